"""What a report shows on demand, packed: cut into pieces, each distinct one kept once, then deflated.

A part is a stretch of the page (a case up close, the drawing of a plan), cut where markup and text meet. The long texts
it shows are cut into lines. Both draw on one table of pieces, in the order in which they come, so that what is alike
stands close together. `assets/unpack.js` is the other half; it inflates with the browser's own `DecompressionStream`.

Texts of a part repeat each other: what a decision was shown holds what the one before was shown. So a run of lines that
stand in a row in the part's earlier texts is copied from there.

A code is `NEW` for the next piece that was not seen before, `TEXT` for the next number of a text, above that a piece
that earlier parts brought (counted from `OLD`), and below zero one that this part brought (counted down from -1).
"""

import json
import re
import zlib
from base64 import b85encode
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Final, NamedTuple

from evals.report.inert import visible

NEW: Final = 0
TEXT: Final = 1
OLD: Final = 2
COPY: Final = TEXT  # in a text there is no other

_CUT: Final = re.compile(r'(>|aria-label="|data-(?:text|scores|events|cells)=")([^<"]+)')
_NOWHERE: Final = -1
_WORTH: Final = 3  # lines: a shorter copy is no shorter than what it copies
_PLACES: Final = 8
_HARMLESS: Final = bytes.maketrans(b"<>&", b",.:")  # what HTML knows, in letters that base 85 leaves free


class Part(NamedTuple):
    """A part in codes. `known` pieces came before it; `texts` are runs of lines, each `code, length`, or `COPY, lines
    back, length`; `numbers` say which of them stands where: 0 for the next that was not named before, else its place
    from 1 on."""

    known: int
    texts: list[list[int]]
    numbers: list[int]
    codes: list[int]


class Pack:
    """Parts by name, over one table of pieces. `texts` are the long ones, by the number the parts call them by."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._places: dict[str, int] = {}
        self._pieces: list[str] = []
        self._parts: dict[str, Part] = {}

    def add(self, name: str, markup: str) -> None:
        """A part in escaped markup, under the name by which the page asks for it."""
        known, cut = len(self._pieces), list(pieces(markup))
        order: dict[str, int] = {}
        numbers = []
        for value in (value for value, is_text in cut if is_text):
            numbers.append(order.get(value, 0))
            order.setdefault(value, len(order) + 1)
        told = Told()
        texts = [self._runs(self._texts[int(number)], known, told) for number in order]
        codes = [TEXT if is_text else self._code(piece, known) for piece, is_text in cut]
        self._parts[name] = Part(known, texts, numbers, codes)

    def packed(self, more: Mapping[str, object]) -> str:
        """All of it and the JSON that goes with it, `{parts, pieces, **more}`: a zlib stream in base 85."""
        content = {"parts": self._parts, "pieces": self._pieces, **more}
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return b85encode(zlib.compress(text.encode(), 9)).translate(_HARMLESS).decode()

    def _runs(self, text: str, known: int, told: "Told") -> list[int]:
        """The lines of a text: copies of what was told before, and between them runs of new lines and of such as stand
        together in the table."""
        runs: list[int] = []
        lines = text.replace("\r\n", "\n").split("\n")
        at, after, last = 0, _NOWHERE, _NOWHERE
        while at < len(lines):
            back, length = told.longest(lines, at)
            if length >= _WORTH:
                runs += (COPY, back, length)
                after, last = _NOWHERE, COPY
            else:
                place, code, length = self._places.get(lines[at], _NOWHERE), self._code(lines[at], known), 1
                if place == after and (code == NEW) == (last == NEW):
                    runs[-1] += 1
                else:
                    runs += (code, 1)
                after, last = place if code == NEW else place + 1, code
            told.add(lines[at : at + length])
            at += length
        return runs

    def _code(self, piece: str, known: int) -> int:
        place = self._places.get(piece)
        if place is None:
            self._places[piece] = len(self._pieces)
            self._pieces.append(visible(piece))
            return NEW
        return place + OLD if place < known else known - place - 1


class Told:
    """The lines that the texts of one part have told so far."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._places: dict[str, list[int]] = {}

    def longest(self, lines: Sequence[str], at: int) -> tuple[int, int]:
        """Of the latest places where `lines[at]` was told: how far back the one stands from which most lines go on
        alike, and how many do."""
        best = (0, 0)
        for place in reversed(self._places.get(lines[at], ())[-_PLACES:]):
            pairs = zip(lines[at:], self._lines[place:], strict=False)
            alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            best = max(best, (alike, place))
        length, place = best
        return len(self._lines) - place, length

    def add(self, lines: Sequence[str]) -> None:
        """These were told next."""
        for line in lines:
            self._places.setdefault(line, []).append(len(self._lines))
            self._lines.append(line)


def pieces(markup: str) -> Iterator[tuple[str, bool]]:
    """The markup, cut: put together again it is the same. With each piece, whether it is the number of a text."""
    *cut, last = _CUT.split(markup)
    for before, opening, value in zip(cut[::3], cut[1::3], cut[2::3], strict=True):
        yield before + opening, False
        yield value, opening.startswith("data-")
    yield last, False
