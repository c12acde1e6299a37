"""Texts of a report packed into one compressed table."""

import json
import re
import zlib
from base64 import b85encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

from markupsafe import escape

from evals.report.view.page_parts import Number
from evals.shared.visible_text import visible

MOST: Final = 8_000
SELDOM: Final = 2
"""A word said no more often than this is spelled out."""
_WORD: Final = re.compile(r"( ?\w{2,})")
_START: Final = "\0"
"""No text of a page holds one."""
_LETTERS: Final = (range(0xA1, 0x800), range(0x4E00, 0x9FFF))
"""Two bytes each, for the words that are most frequent; then three."""


class Said(NamedTuple):
    """Texts in which each of `letters` stands for the word at its place."""

    texts: list[str]
    letters: str
    words: list[str]


def said(texts: Sequence[str]) -> Said:
    """The texts in letters; put back (`unpack.js`), they are the same."""
    whole = _START + f" {_START}".join(texts)
    stretches = whole.split(" ")
    seen = Counter(stretches)
    cut = {stretch: _cut(stretch) for stretch in seen}  # words, and what is between them
    counted: Counter[str] = Counter()
    for stretch, times in seen.items():
        for word in cut[stretch][1::2]:
            counted[word] += times
    frequent = sorted(
        (word for word, times in counted.items() if times > SELDOM), key=lambda word: (-counted[word], word)
    )
    letters = dict(zip(frequent[:MOST], _free("".join(seen)), strict=False))
    spoken = {stretch: "".join([letters.get(each, each) for each in parts]) for stretch, parts in cut.items()}
    joined = "".join(map(spoken.__getitem__, stretches))
    return Said(joined.split(_START)[1:] if texts else [], "".join(letters.values()), list(letters))


def _cut(stretch: str) -> list[str]:
    return _WORD.split(stretch if stretch.startswith(_START) else f" {stretch}")


def _free(text: str) -> Iterator[str]:
    taken = set(text)
    return (letter for letter in map(chr, chain(*_LETTERS)) if letter not in taken)


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
LEVEL: Final = 5  # 6 takes half as much again for four hundredths, and 8 four times as much for two more

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


class SharedWords:
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
        """It all and what goes with it, JSON of `{names, columns, pieces, letters, words, **more}`: zlib in base 85.
        A column is one field of all parts: what is of one kind deflates better beside its like.
        """
        pieces, letters, words = said(list(self._pieces))
        content = {
            "names": list(self._parts),
            "columns": list(zip(*self._parts.values(), strict=True)),
            "pieces": pieces,
            "letters": letters,
            "words": words,
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
