"""The keys this very process holds: whatever they look like, they are secrets, in any spelling an endpoint may echo.

Rules for formats cannot know them: a key of a team's own gateway may be any word.
"""

import base64
import os
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

MASK: Final = "[key withheld]"
_SHORTEST = 8  # a dummy key of a local server ("none", "local") is no secret, and would be found everywhere
_spellings: dict[str, None] = {}


def hold(*keys: str) -> None:
    """From now on each of these keys is a secret wherever it is seen; empty and very short ones are left out."""
    for key in keys:
        if len(key) >= _SHORTEST:
            _spellings.update(dict.fromkeys(_spelled(key)))


def hold_environment() -> None:
    """Hold the keys in this process's environment: the values of all variables named …_KEY or …_TOKEN."""
    hold(*(value for name, value in os.environ.items() if name.endswith(("_KEY", "_TOKEN"))))


def masked(text: str) -> str:
    """The text with every held key replaced: for what is printed or logged, since a host may echo what it was sent."""
    for spelling in sorted(_spellings, key=len, reverse=True):
        text = text.replace(spelling, MASK)
    return text


def held_in(text: str) -> Iterator[tuple[int, str]]:
    """Offset and spelling of every key in the text."""
    return ((place, each) for each in _spellings if (place := text.find(each)) >= 0)


def is_holding() -> bool:
    """Whether this process holds any key."""
    return bool(_spellings)


def release() -> None:
    """Forget all keys."""
    _spellings.clear()


def _spelled(key: str) -> Iterator[str]:
    """As it is, backwards, percent-encoded, in hex, and in base64 at each of the three places it can begin there."""
    raw = key.encode("utf-8", "surrogateescape")
    yield key
    yield key[::-1]
    yield quote(key, safe="")
    yield "".join(f"%{byte:02X}" for byte in raw)
    yield raw.hex()
    yield raw.hex().upper()
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + raw).decode().rstrip("=")
        inner = whole[(0, 2, 3)[shift] : len(whole) - (1 if (len(raw) + shift) % 3 else 0)]
        yield inner
        yield inner.replace("+", "-").replace("/", "_")
