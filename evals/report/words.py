"""Texts with their frequent words said in one letter each: what deflate looks for in a window, said for the whole page.

A report says a few thousand words again and again, mostly too far apart for deflate to see. A letter stands for nothing
but its word: only letters that none of the texts holds are taken.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

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
