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
_LETTERS: Final = (range(0xA1, 0x800), range(0x4E00, 0x9FFF))
"""Two bytes each, for the words that are most frequent; then three."""


class Said(NamedTuple):
    """Texts in which each of `letters` stands for the word at its place."""

    texts: list[str]
    letters: str
    words: list[str]


def said(texts: Sequence[str]) -> Said:
    """The texts in letters; put back (`unpack.js`), they are the same."""
    whole = "\0".join(texts)  # no text of a page holds one
    cut = _WORD.split(whole)  # words, and what is between them
    counted = Counter(cut[1::2])
    frequent = sorted(
        (word for word, times in counted.items() if times > SELDOM), key=lambda word: (-counted[word], word)
    )
    letters = dict(zip(frequent[:MOST], _free(whole), strict=False))
    cut[1::2] = [letters.get(word, word) for word in cut[1::2]]
    return Said("".join(cut).split("\0") if texts else [], "".join(letters.values()), list(letters))


def _free(text: str) -> Iterator[str]:
    taken = set(text)
    return (letter for letter in map(chr, chain(*_LETTERS)) if letter not in taken)
