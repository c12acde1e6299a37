"""Named lists of cases: a number of the page leads to the rows it counts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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

    def pool(self) -> list[tuple[str, tuple[int, ...]]]:
        """Title and places in the order of the run's cases, in order of their numbers."""
        return list(self._numbers)
