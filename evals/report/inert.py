"""Text from issues and models, made safe to look at: what would act unseen is shown instead."""

import json
import re
from typing import Final

_UNSEEN: Final = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls (tab and newline are text), among them the escape of terminal colours
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional controls: they reorder what is read
    "\u200b\u2028\u2029\u2060\ufeff"  # zero width, and line ends only some programs see
    "\ud800-\udfff"  # halves of surrogate pairs: no encoder takes them
    "\U000e0000-\U000e007f"  # tags: invisible ASCII, a hiding place for instructions to models
    "]"
)
_ACTIVE: Final = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def visible(text: str) -> str:
    """The text with each unseen character spelled out: ESC as its picture, the rest as a code point in brackets."""
    if text.isprintable():  # nearly always, and a tenth of the time that looking for each takes
        return text
    return _UNSEEN.sub(_spelled, text.replace("\r\n", "\n"))


def _spelled(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"⟨U+{code:04X}⟩"


def script_json(value: object) -> str:
    """JSON that may stand inside a `<script>` element: no character of it can end the element or start another."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).translate(_ACTIVE)
