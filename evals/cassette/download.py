"""One attempt to get an answer over a live transport, read piece by piece and never further than an answer may go."""

import zlib
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from types import ModuleType
from typing import Any, Final

from evals.cassette.player import Asked
from evals.cassette.reply import MAX_ANSWER, Reply, Send, is_stream, unreachable
from evals.errors import RecordingError

_GZIP_OR_ZLIB: Final = 47  # zlib's own sign for "whichever of the two it is"


def sending(ours: Asked, handle: Callable[[], Awaitable[Any]], library: ModuleType) -> Send:
    """Asks the live transport once; `library` is httpx or httpx2: the same names, other classes."""

    async def send() -> Reply:
        try:
            response = await handle()
            async with aclosing(response):
                kind = response.headers.get("content-type", "")
                body = b"" if is_stream(kind) else await _body(response)  # a stream may never end
        except (library.HTTPError, zlib.error) as error:
            nobody_there = isinstance(error, (library.ConnectError, library.ConnectTimeout))
            raise unreachable(ours, error, nobody_there=nobody_there) from None
        return Reply(response.status_code, kind, body, response.headers.get("retry-after", ""))

    return send


async def _body(response: Any) -> bytes:  # noqa: ANN401 - of httpx or httpx2
    """Unpacked; of what is longer than any answer, a little more than the longest: enough to be refused for it."""
    raw = bytearray()
    async for piece in response.stream:  # as it came: the library would unpack a piece of 64 kB to any size
        raw += piece
        if len(raw) > MAX_ANSWER:
            break
    encoding = response.headers.get("content-encoding", "").strip().lower() or "identity"
    if encoding == "identity":
        return bytes(raw)
    if encoding not in {"gzip", "deflate"}:
        raise RecordingError(f"the endpoint packs its answers as {encoding[:20]!r}, unasked: switch that off there")
    return zlib.decompressobj(_GZIP_OR_ZLIB).decompress(bytes(raw), MAX_ANSWER + 1)
