"""Named lists of cases: a number of the page leads to the rows it counts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evals.report.inert import visible


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
