"""The header of a page: `name: value` lines between two lines of three dashes."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from quillmark.errors import SourceError

FENCE = "---"
_FIELD = re.compile(r"([A-Za-z_][\w-]*)\s*:\s*(.*)")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_NUMBER = re.compile(r"[+-]?\d+")


def split(text: str, path: str) -> tuple[dict[str, Any], str, int]:
    """The fields of the header, the body, and the line (from 1) on which the body begins.

    Raises SourceError for a header that does not end or a line that is no field.
    """
    lines = text.split("\n")
    if lines[0].strip() != FENCE:
        return {}, text, 1
    for number, line in enumerate(lines[1:], 2):
        if line.strip() == FENCE:
            return _fields(lines[1 : number - 1], path), "\n".join(lines[number:]), number + 1
    raise SourceError("the header is never closed; end it with a line of three dashes", path, 1)


def _fields(lines: list[str], path: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, line in enumerate(lines, 2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _FIELD.fullmatch(line.strip())
        if match is None:
            raise SourceError("expected `name: value`", path, number)
        name, raw = match.groups()
        try:
            found[name.replace("-", "_").lower()] = value_of(raw)
        except ValueError as error:
            raise SourceError(f"{name}: {error}", path, number) from error
    return found


def value_of(raw: str) -> Any:
    """A value by its look: list, quoted text, date, number, true or false, else plain text."""
    raw = raw.strip()
    if raw.startswith("[") and raw.endswith("]"):
        return [value_of(part) for part in _parts(raw[1:-1])]
    if len(raw) > 1 and raw[0] == raw[-1] and raw[0] in "\"'":
        return raw[1:-1]
    if _DATE.fullmatch(raw):
        return date.fromisoformat(raw)
    if _NUMBER.fullmatch(raw):
        return int(raw)
    return {"true": True, "false": False}.get(raw.lower(), raw)


def _parts(inner: str) -> list[str]:
    """The items of a list; a comma inside quotes does not separate."""
    parts, current, quote = [], "", ""
    for char in inner:
        if char == "," and not quote:
            parts.append(current)
            current = ""
            continue
        if char in "\"'" and quote in ("", char):
            quote = "" if quote else char
        current += char
    parts.append(current)
    return [part for part in parts if part.strip()]
