"""Text for people: counts and lists in words; control, bidirectional, zero-width and tag characters spelled out."""

import re
from collections.abc import Sequence
from typing import Final


def counted(number: int, noun: str) -> str:
    """`1 case`, `2 cases`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def some(names: Sequence[str], shown: int = 3) -> str:
    """The first few names; the others are counted."""
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


def joined_lines(text: str) -> str:
    """The text with each paragraph on one line; typer breaks help where its docstring does."""
    return "\n\n".join(each.replace("\n", " ") for each in text.split("\n\n"))


_UNSEEN: Final = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls (tab and newline are text), among them the escape of terminal colours
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional controls: they reorder what is read
    "\u200b\u2028\u2029\u2060-\u2064\u206a-\u206f\ufeff"  # zero width, and line ends only some programs see
    "\u00ad\u034f\u115f\u1160\u180e\u3164\uffa0\ufff9-\ufffb"  # soft hyphen, fillers and marks without a glyph
    "\ud800-\udfff"  # halves of surrogate pairs: no encoder takes them
    "\ufe00-\ufe0d\U000e0100-\U000e01ef"  # variation selectors: rare in text, a hiding place for bytes
    "\U000e0000-\U000e007f"  # tags: invisible ASCII, a hiding place for instructions to models
    "]"
)
_STRAY_JOINER: Final = re.compile(
    "(?<![^\x00-\x7f\u200b-\u200d])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f\u200b-\u200d])"
)
"""Joiners are text inside an emoji, or a word of Persian or Hindi: between two characters that are not ASCII."""


def visible(text: str) -> str:
    """The text with each unseen character spelled out: ESC as its picture, the rest as a code point in brackets."""
    if _is_plain(text):
        return text
    if _has_joiner(text):
        text = _STRAY_JOINER.sub(_spelled, text)
    return _UNSEEN.sub(_spelled, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """The text on one line, its unseen characters spelled out; a line break could pass for a new message."""
    return visible(" ".join(text.split()))


def hidden_in(text: str) -> int:
    """How many characters of the text `visible` spells out."""
    if _is_plain(text):
        return 0
    joiners = len(_STRAY_JOINER.findall(text)) if _has_joiner(text) else 0
    return joiners + len(_UNSEEN.findall(text.replace("\r\n", "\n")))


def _is_plain(text: str) -> bool:
    """Printable ASCII, as nearly always: a tenth of the time that looking for each character takes."""
    return text.isascii() and text.isprintable()


def _has_joiner(text: str) -> bool:
    return "\u200c" in text or "\u200d" in text


def _spelled(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"⟨U+{code:04X}⟩"
