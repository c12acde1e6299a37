"""What may go into HTML: escaped text, markup known to be safe, and harmless addresses."""

from __future__ import annotations

import html
import re

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_ALLOWED = frozenset({"http", "https", "mailto", "tel"})
_IGNORED_BY_BROWSERS = re.compile(r"[\x00-\x20\x7f]")


class Safe(str):
    """Markup that is put out as it is. Only what quillmark or the author of a layout wrote may become one."""

    __slots__ = ()


def escape(value: object) -> Safe:
    """`value` as text of an element or of a quoted attribute; what is Safe already stays as it is."""
    if isinstance(value, Safe):
        return value
    return Safe(html.escape(str(value), quote=True))


def safe_url(url: str) -> str:
    """`url`, or `#` if following it would run something; browsers skip control characters, so they do not count."""
    cleaned = _IGNORED_BY_BROWSERS.sub("", url)
    scheme = _SCHEME.match(cleaned)
    if scheme and scheme[1].lower() not in _ALLOWED:
        return "#"
    return cleaned
