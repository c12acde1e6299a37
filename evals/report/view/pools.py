"""Where the page keeps once what many cases have in common: texts, plans, diffs, causes, rules."""

from dataclasses import dataclass

from evals.models.run import Run
from evals.report.view.causes import Causes
from evals.report.view.plan import Pictures
from evals.report.view.prompt_diff import Line, prompt_diffs
from evals.report.view.rules import RuleSheets
from evals.report.view.texts import Texts


class Changes:
    """A pool of line diffs: cases of one pair mostly differ alike. `add` gives the number the page finds one by."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Line, ...], str] = {}

    def add(self, lines: tuple[Line, ...]) -> str:
        """The number of the diff, which equal ones share; empty for one without lines."""
        return self._numbers.setdefault(lines, str(len(self._numbers))) if lines else ""

    def all(self) -> tuple[tuple[Line, ...], ...]:
        """The diffs in order of their numbers."""
        return tuple(self._numbers)


@dataclass(frozen=True)
class Pools:
    """One pool of each kind."""

    texts: Texts
    pictures: Pictures
    changes: Changes
    causes: Causes
    sheets: RuleSheets


def pools_for(run: Run) -> Pools:
    """Empty pools for the page of a run."""
    return Pools(Texts(), Pictures(), Changes(), Causes(run, prompt_diffs(run)), RuleSheets())
