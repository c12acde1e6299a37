"""What a text means: the same with its escapes undone, as a reader of JSON, of a URL or of a dump would see it."""

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

_ESCAPE: Final = re.compile(r"\\+u([0-9a-fA-F]{4})")
_SLASH: Final = re.compile(r"\\+/")
_BREAK: Final = re.compile(r"\\+[nrt]")
_HEX: Final = re.compile(r"(?<![0-9A-Za-z])(?:[2-7][0-9a-fA-F]){12,}(?![0-9A-Za-z])")
_BASE64: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}={0,2}")
_UNSEEN: Final = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")


def meanings(text: str) -> Iterator[str]:
    """The text in each other way it can be read; none for nearly every text."""
    for read in (_unescaped, _unquoted, _plain, _from_hex, _from_base64):
        if (found := read(text)) != text:
            yield found


def _unescaped(text: str) -> str:
    """Escapes of JSON, also where a JSON text is quoted in prose or in JSON again."""
    if "\\" not in text:
        return text
    return _BREAK.sub("\n", _SLASH.sub("/", _ESCAPE.sub(lambda match: chr(int(match.group(1), 16)), text)))


def _unquoted(text: str) -> str:
    """`%40` is an @."""
    return unquote(text) if "%" in text else text


def _plain(text: str) -> str:
    """Full width letters are letters, and what nobody sees is not there."""
    return text if text.isascii() else unicodedata.normalize("NFKC", _UNSEEN.sub("", text))


def _from_hex(text: str) -> str:
    """Bytes written as digits, where they are all printable; a digest's are not."""
    return _HEX.sub(lambda match: bytes.fromhex(match.group()).decode("ascii"), text)


def _from_base64(text: str) -> str:
    """Base64 of either alphabet, where it is that of printable text; a name or a path is not."""
    return _BASE64.sub(_printed, text)


def _printed(match: re.Match[str]) -> str:
    word = match.group().rstrip("=").replace("-", "+").replace("_", "/")
    try:
        decoded = base64.b64decode(word + "=" * (-len(word) % 4))
    except binascii.Error:
        return match.group()
    return decoded.decode() if decoded.isascii() and decoded.decode().isprintable() else match.group()
