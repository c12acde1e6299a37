"""Small parts of pages: tables, case lists, shared texts, links in sentences."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from evals.shared.visible_text import visible


@dataclass(frozen=True)
class Table:
    """As many cells per row as there are headings."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ListLink:
    """A text and the number of the list behind it; empty where there is nothing to list."""

    text: str
    list: str


class Lists:
    """A pool of lists. `link` takes the cases a text counts and gives the link to them."""

    def __init__(self, case_ids: Sequence[str]) -> None:
        self._places = {case_id: place for place, case_id in enumerate(case_ids)}
        self._numbers: dict[tuple[str, tuple[int, ...]], int] = {}

    def link(self, text: str, title: str, case_ids: Iterable[str]) -> ListLink:
        """The link to the rows of these cases; `title` says above them what they are."""
        places = tuple(sorted({self._places[case_id] for case_id in case_ids}))
        if not places:
            return ListLink(text, "")
        return ListLink(text, str(self._numbers.setdefault((visible(title), places), len(self._numbers))))

    def steps(self) -> list[tuple[str, tuple[int, ...]]]:
        """The pool with each place as its distance from the one before, the first from 0: small numbers, since a list
        may hold most of a thousand cases."""
        return [
            (title, tuple(place - before for before, place in pairwise((0, *places)))) for title, places in self.pool()
        ]

    def pool(self) -> list[tuple[str, tuple[int, ...]]]:
        """Title and places in the order of the run's cases, in order of their numbers."""
        return list(self._numbers)


class Number(str):
    """The number of a text, as the page writes it: no word of the page, though it looks like one."""

    __slots__ = ()


class Texts:
    """A pool of texts. `add` takes one and gives the number under which the page finds it again."""

    def __init__(self) -> None:
        self._numbers: dict[str, Number] = {}

    def add(self, text: str) -> Number:
        """The number of the text; equal texts share one."""
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = Number(len(self._numbers))
        return number

    def all(self) -> tuple[str, ...]:
        """The texts in order of their numbers."""
        return tuple(self._numbers)


_WORD: Final = re.compile(r"([\w.-]*\w)")
"""A case's id is one word: letters, digits, dots and hyphens, with no mark of the sentence at its end."""


@dataclass(frozen=True)
class Piece:
    """A part of a sentence; `is_case` if it is the id of a case."""

    text: str
    is_case: bool


def pieces(sentence: str, case_ids: Collection[str]) -> tuple[Piece, ...]:
    """The sentence, cut at the ids it names; joined they are the sentence again."""
    found: list[Piece] = []
    for part in filter(None, _WORD.split(sentence)):
        is_case = part in case_ids
        if found and not is_case and not found[-1].is_case:
            found[-1] = Piece(found[-1].text + part, is_case=False)
        else:
            found.append(Piece(part, is_case))
    return tuple(found)
