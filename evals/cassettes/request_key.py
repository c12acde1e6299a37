"""The key of a request: a digest of its canonical form."""

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any, Final

CANONICALISATION: Final = 1
"""Rises whenever the same request would get another key; a cassette names the version its keys were made with."""

REDACTED_MEMBERS: Final = frozenset({"api_key"})
"""Top-level members of a request body that carry a credential: neither stored nor part of the key."""

_VERBATIM: Final = frozenset({"response_format", "tools"})
"""Top-level members that hold JSON schemas, where null is a word of its own (`default: null`, `const: null`)."""


def request_key(method: str, url_path_and_query: str, body: bytes) -> str:
    """Sha256 (hex) over method, path with query, and the canonical body; a body that is not JSON counts raw."""
    return _key(method, url_path_and_query, canonical_body(body))


def parsed_request(method: str, url_path_and_query: str, body: str) -> tuple[Any, str]:
    """A request's body as JSON, and its key: `request_key` of a body that is read anyway. Raises ValueError."""
    whole: list[float] = []

    def number(digits: str) -> float:
        found = _finite(digits)
        whole.extend([found] if found.is_integer() else [])
        return found

    value = parse_json(body, number)
    members = value.items() if isinstance(value, dict) else ()
    plain = {name: int(member) for name, member in members if isinstance(member, float) and member.is_integer()}
    if len(plain) == len(whole):  # the key takes 1.0 for 1, and all of these are members of the body itself
        return value, _key(method, url_path_and_query, _canonical({**value, **plain} if plain else value))
    return value, request_key(method, url_path_and_query, body.encode())


def _key(method: str, url_path_and_query: str, canonical: bytes) -> str:
    digest = hashlib.sha256(f"{method.upper()} {url_path_and_query}\n".encode("utf-8", "surrogatepass"))
    digest.update(canonical)
    return digest.hexdigest()


def canonical_body(body: bytes) -> bytes:
    """The body with sorted keys and compact separators, 1.0 as 1, null members and `stream: false` left out."""
    try:
        return _canonical(parse_json(body, number=_plain))
    except ValueError:
        return body


def _canonical(value: Any) -> bytes:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        value = {name: _kept(name, member) for name, member in value.items() if not _dropped(name, member)}
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def parse_json(text: bytes | str, number: Callable[[str], float] | None = None) -> Any:  # noqa: ANN401 - six shapes
    """`json.loads` that refuses NaN and infinities, which are not JSON; `number` reads what is no integer.

    Raises ValueError.
    """
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=number or _finite)
    except RecursionError as error:
        raise ValueError("nested too deeply to be a request") from error


def _dropped(name: str, member: object) -> bool:
    return member is None or name in REDACTED_MEMBERS or (name == "stream" and member is False)


def _kept(name: str, member: Any) -> Any:  # noqa: ANN401 - JSON
    return member if name in _VERBATIM else _without_nulls(member)


def _without_nulls(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def _plain(digits: str) -> float:
    """A whole float as an integer: JSON has one kind of number."""
    number = _finite(digits)
    return int(number) if number.is_integer() else number


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in {float("inf"), float("-inf")}:
        raise ValueError(f"{digits} is too large for a number")
    return number


# In order: a date with its time is one thing, and a path below a temporary folder may hold any of the others.
PATTERNS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("temporary path", re.compile(r"(?:/private)?/(?:var/)?tmp/[^\s\"'`,;)]+|/var/folders/[^\s\"'`,;)]+")),
    ("temporary path", re.compile(r"(?i)\b[a-z]:\\[^\s\"']*\\temp\\[^\s\"'`,;)]+")),
    ("uuid", re.compile(r"(?i)\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b")),
    ("date or time", re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?Z|[+-]\d\d:?\d\d)?)?")),
    ("date or time", re.compile(r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b")),
    ("Unix time", re.compile(r"\b1[5-9]\d{8}(?:\d{3}|\.\d+)?\b")),
    ("memory address", re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")),
)


def volatile_kinds(recorded: str, asked: str) -> tuple[str, ...]:
    """What two texts differ in, where that is nothing but volatile text; empty if they are equal, or differ in more."""
    if recorded == asked:
        return ()
    kinds = []
    for name, pattern in PATTERNS:
        if pattern.findall(recorded) != pattern.findall(asked):
            kinds.append(name)
        recorded, asked = (pattern.sub(f"<{name}>", text) for text in (recorded, asked))
    return tuple(dict.fromkeys(kinds)) if recorded == asked else ()
