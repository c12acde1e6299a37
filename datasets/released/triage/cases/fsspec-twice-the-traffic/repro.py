"""Reading whole blocks asks the server for these blocks, each once, and for nothing behind them."""

from fsspec.caching import BlockCache

SIZE, BLOCK = 1000, 100
asked: list[tuple[int, int]] = []


def fetch(start: int, end: int) -> bytes:
    asked.append((start, end))
    return bytes(number % 251 for number in range(start, end))


cache = BlockCache(BLOCK, fetch, SIZE)
data = cache._fetch(200, 300)
assert data == bytes(number % 251 for number in range(200, 300))
assert asked == [(200, 300)], asked
