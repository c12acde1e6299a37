"""What a scorer is, and how its answer becomes an outcome: scored, skipped or failed, never a float in disguise.

    @scorer("root_cause.hit", unit="fraction", better="higher", primary=True)
    def root_cause_hit(case: Case, trace: Trace) -> float:
        \"\"\"The definition the report shows.\"\"\"

The function returns a finite number, or raises `NotApplicable` where the question makes no sense for this case.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from evals.models.case import Case
from evals.models.outcome import Failed, Outcome, Scored, Skipped
from evals.models.trace import Trace

Unit = Literal["fraction", "count", "tokens", "seconds", "USD"]
Direction = Literal["higher", "lower"]
RESTS_ON: Final[Mapping[str, str]] = {
    "root_cause.category": "category",
    "root_cause.text": "root_cause",
    "root_cause.function": "functions",
    "root_cause.": "gold",
    "severity.": "severity",
}
"""The label a score rests on, by the beginning of its name (first match); an imported case may not have it."""
UNSTATED: Final = "the source of this imported case states no "
"""How the reason begins where a score is skipped because the case has no such label."""

ScoringFunction = Callable[[Case, Trace], float]


class NotApplicable(Exception):  # noqa: N818  no error: it is how a scorer says that a case is none of its business
    """The score makes no sense here; the message says why, as the report will show it."""


@dataclass(frozen=True)
class Scorer:
    """A named score with its unit, its better direction and its definition; `primary` ones decide the verdict.

    An `open_loop` one reads frozen states only, so it stands whether or not the trial's own route is on the tape; a
    `macro` one is averaged over all cases by the gold nodes of those states, so that each node counts alike.
    """

    name: str
    unit: Unit
    better: Direction
    definition: str
    function: ScoringFunction
    primary: bool = False
    open_loop: bool = False
    macro: bool = False


def scorer(
    name: str, *, unit: Unit, better: Direction, primary: bool = False, open_loop: bool = False, macro: bool = False
) -> Callable[[ScoringFunction], Scorer]:
    """Make a function of (case, trace) a scorer; its docstring, on one line, is the definition."""

    def made(function: ScoringFunction) -> Scorer:
        definition = " ".join((inspect.getdoc(function) or "").split())
        if not definition:
            raise ValueError(f"scorer {name!r} has no docstring: write its definition there")
        return Scorer(name, unit, better, definition, function, primary, open_loop, macro)

    return made


def score(subject: Scorer, case: Case, trace: Trace) -> Outcome:
    """Apply one scorer, to exact traces only (save open-loop ones): off the tape nothing is made up, and a broken trial
    has failed."""
    if trace.provenance.label == "failed":
        return Failed(error=trace.error or "the trial failed without saying why")
    if trace.provenance.label != "exact" and not subject.open_loop:
        return Skipped(reason=f"off the recorded tape: {trace.provenance}")
    missing = _missing_label(subject.name, case)
    if missing is not None:
        return Skipped(reason=f"{UNSTATED}{missing}")
    try:
        return Scored(value=float(subject.function(case, trace)))
    except NotApplicable as reason:
        return Skipped(reason=str(reason))
    except Exception as error:  # noqa: BLE001  a broken scorer is an outcome the gate must see, whatever broke
        return Failed(error=f"{subject.name}: {type(error).__name__}: {error}")


def _missing_label(name: str, case: Case) -> str | None:
    label = next((label for beginning, label in RESTS_ON.items() if name.startswith(beginning)), None)
    return label if label in case.labels.unlabelled else None
