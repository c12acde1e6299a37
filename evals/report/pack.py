"""What a report shows on demand, packed: cut into pieces, each distinct one kept once, then deflated.

A part is a stretch of the page (a case up close, the drawing of a plan), cut where markup and text meet. The long texts
it shows are cut into lines. Both draw on one table of pieces, in the order in which they come, so that what is alike
stands close together; the words of the pieces are said in letters (`words`). `assets/unpack.js` is the other half; it
inflates with the browser's own `DecompressionStream`.

A code is `NEW` for the next piece that was not seen before, `TEXT` for the next number of a text, above that a piece
that earlier parts brought (counted from `OLD`), and below zero one that this part brought (counted down from -1).
"""

import json
import re
import zlib
from base64 import b85encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from evals.report.inert import visible
from evals.report.words import said

NEW: Final = 0
TEXT: Final = 1
OLD: Final = 2
LEVEL: Final = 8  # 9 takes a sixth more time for two parts in a thousand

_CUT: Final = re.compile(r'(>|aria-label="|data-(?:text|scores|events|cells)=")(\s*[^<"\s][^<"]*)')
_NOWHERE: Final = -1
_HARMLESS: Final = bytes.maketrans(b"<>&", b",.:")  # what HTML knows, in letters that base 85 leaves free


class Part(NamedTuple):
    """A part in codes. `known` pieces came before it; `texts` are runs of lines, `code, length, code, length…`;
    `numbers` say which of them stands where: 0 for the next that was not named before, else its place from 1 on."""

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
        texts = [self._runs(self._texts[int(number)], known) for number in order]
        codes = [TEXT if is_text else self._code(piece, known) for piece, is_text in cut]
        self._parts[name] = Part(known, texts, numbers, codes)

    def packed(self, more: Mapping[str, object]) -> str:
        """All of it and the JSON that goes with it, `{parts, pieces, letters, words, **more}`: zlib in base 85."""
        pieces, letters, words = said(self._pieces)
        content = {"parts": self._parts, "pieces": pieces, "letters": letters, "words": words, **more}
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return b85encode(zlib.compress(text.encode(), LEVEL)).translate(_HARMLESS).decode()

    def _runs(self, text: str, known: int) -> list[int]:
        """The lines of a text: new ones in a row are one run, and so are others that stand together in the table."""
        runs: list[int] = []
        after = _NOWHERE
        for line in text.replace("\r\n", "\n").split("\n"):
            place = self._places.get(line, _NOWHERE)
            code = self._code(line, known)
            if runs and place == after and (code == NEW) == (runs[-2] == NEW):
                runs[-1] += 1
            else:
                runs += (code, 1)
            after = place if code == NEW else place + 1
        return runs

    def _code(self, piece: str, known: int) -> int:
        place = self._places.get(piece)
        if place is None:
            self._places[piece] = len(self._pieces)
            self._pieces.append(visible(piece))
            return NEW
        return place + OLD if place < known else known - place - 1


def pieces(markup: str) -> Iterator[tuple[str, bool]]:
    """The markup, cut: put together again it is the same. With each piece, whether it is the number of a text."""
    *cut, last = _CUT.split(markup)
    for before, opening, value in zip(cut[::3], cut[1::3], cut[2::3], strict=True):
        yield before + opening, False
        yield value, opening.startswith("data-")
    yield last, False
