"""Texts of a report packed into one compressed table."""

import json
import zlib
from base64 import b85encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from markupsafe import escape

from evals.report.view.page_parts import Number
from evals.shared.visible_text import visible


class TextPlaces(dict[str, int]):
    """Text -> the place in the table of what `spelled` makes of it; it is put there when it is first asked for."""

    def __init__(self, table: dict[str, int], spelled: Callable[[str], str]) -> None:
        self._table = table
        self._spelled = spelled

    def __missing__(self, text: str) -> int:
        place = self[text] = self._table.setdefault(self._spelled(text), len(self._table))
        return place


TEXT: Final = 0
OLD: Final = 1
LEVEL: Final = 6

_NUMBER: Final = -1  # in the place of a piece: the number of a text
_HARMLESS: Final = bytes.maketrans(b"<>&", b",.:")  # what HTML knows, in letters that base 85 leaves free


class Hole(str):
    """Where a form is to be filled: a letter that `visible` leaves in no text. A text of this letter is no hole."""

    __slots__ = ()


HOLE: Final = Hole("\1")


class PackedPart(NamedTuple):
    """A part in codes. `known` pieces came before it; `paragraphs` are lines each, and `texts` numbers of paragraphs;
    `numbers` say which text stands where, one for each `TEXT` among the codes."""

    known: int
    paragraphs: list[list[int]]
    texts: list[list[int]]
    numbers: list[int]
    codes: list[int]


class SharedTexts:
    """Parts by name, over one table of pieces. `texts` are the long ones, by the number the parts call them by."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._pieces: dict[str, int] = {}
        self._forms = TextPlaces(self._pieces, str)
        self._values = TextPlaces(self._pieces, lambda value: str(escape(visible(value))))
        self._lines = TextPlaces(self._pieces, visible)
        self._parts: dict[str, PackedPart] = {}
        self._begin()

    def shown(self, value: object) -> str:
        """Takes what a template is to print, and gives what it prints instead. What a macro printed has been taken."""
        if isinstance(value, Hole):
            return value
        if isinstance(value, Number):
            self._named.append(value)
            self._drawn.append(_NUMBER)
        elif text := str(value):
            self._drawn.append(self._values[text])
        else:
            return ""
        return HOLE

    def form(self, printed: Iterable[str]) -> Hole:
        """Takes all that a macro printed, and gives what stands for it."""
        self._drawn.append(self._forms["".join(printed)])
        return HOLE

    def close(self, name: str) -> None:
        """All that was taken since the last time is a part, under the name by which the page asks for it."""
        order: dict[str, int] = {}
        numbers = [order.setdefault(value, len(order)) for value in self._named]
        paragraphs: dict[str, int] = {}
        texts = [
            [paragraphs.setdefault(each, len(paragraphs)) for each in _paragraphs(self._texts[int(number)])]
            for number in order
        ]
        lines = [self._codes([self._lines[line] for line in each.split("\n")]) for each in paragraphs]
        self._parts[name] = PackedPart(self._known, lines, texts, numbers, self._codes(self._drawn))
        self._begin()

    def packed(self, more: Mapping[str, object]) -> str:
        """It all and what goes with it, JSON of `{names, columns, pieces, **more}`: zlib in base 85.
        A column is one field of all parts: what is of one kind deflates better beside its like.
        """
        content = {
            "names": list(self._parts),
            "columns": list(zip(*self._parts.values(), strict=True)),
            "pieces": list(self._pieces),
            **more,
        }
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return b85encode(zlib.compress(text.encode(), LEVEL)).translate(_HARMLESS).decode()

    def _begin(self) -> None:
        self._known = len(self._pieces)
        self._named: list[Number] = []
        self._drawn: list[int] = []

    def _codes(self, places: Iterable[int]) -> list[int]:
        known, away = self._known, self._known - 1
        return [away - place if place >= known else place + OLD if place >= 0 else TEXT for place in places]


def _paragraphs(text: str) -> list[str]:
    if "\r" in text:  # looked for by itself: most texts have none, and that is soon seen
        text = text.replace("\r\n", "\n")
    return text.split("\n\n")
