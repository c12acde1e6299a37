"""The `scorer` decorator and how a scorer's answer becomes an outcome: scored, skipped or failed."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from evals.models.case import Case
from evals.models.metrics import Failed, Outcome, Scored, Skipped
from evals.models.trace import Trace

Unit = Literal["fraction", "count", "tokens", "seconds", "USD"]
Direction = Literal["higher", "lower"]
UNSTATED: Final = "the source of this imported case states no "
"""How the reason begins where a score is skipped because the case has no such label."""

ScoringFunction = Callable[[Case, Trace], float]


class NotApplicable(Exception):  # noqa: N818  no error: it is how a scorer says that a case is none of its business
    """The score makes no sense here; the message says why, as the report will show it."""


@dataclass(frozen=True)
class Scorer:
    """A named score with its unit, its better direction and its definition; `primary` ones decide the verdict.

    An `open_loop` one reads frozen states only, so it stands whether or not the trial's own route is on the tape; a
    `macro` one is averaged over all cases by the gold nodes of those states, so that each node counts alike. `label` is
    the field of the labels that it reads: where an imported case has no such label, it is skipped. A `safety` one is
    never to be 0: the gate names each case in which it newly is.
    """

    name: str
    unit: Unit
    better: Direction
    definition: str
    function: ScoringFunction
    primary: bool = False
    open_loop: bool = False
    macro: bool = False
    label: str = ""
    safety: bool = False


def scorer(
    name: str,
    *,
    unit: Unit,
    better: Direction,
    primary: bool = False,
    open_loop: bool = False,
    macro: bool = False,
    label: str = "",
    safety: bool = False,
) -> Callable[[ScoringFunction], Scorer]:
    """Make a function of (case, trace) a scorer; its docstring, on one line, is the definition."""

    def made(function: ScoringFunction) -> Scorer:
        definition = " ".join((inspect.getdoc(function) or "").split())
        if not definition:
            raise ValueError(f"scorer {name!r} has no docstring: write its definition there")
        return Scorer(name, unit, better, definition, function, primary, open_loop, macro, label, safety)

    return made


def score(subject: Scorer, case: Case, trace: Trace) -> Outcome:
    """Apply one scorer, to exact traces only (save open-loop ones): off the tape nothing is made up, and a broken trial
    has failed."""
    if trace.provenance.label == "failed":
        return Failed(error=trace.error or "the trial failed without saying why")
    if trace.provenance.label != "exact" and not subject.open_loop:
        return Skipped(reason=f"off the recorded tape: {trace.provenance}")
    if subject.label and subject.label in case.known.unlabelled:
        return Skipped(reason=f"{UNSTATED}{subject.label}")
    try:
        return Scored(value=float(subject.function(case, trace)))
    except NotApplicable as reason:
        return Skipped(reason=str(reason))
    except Exception as error:  # noqa: BLE001  a broken scorer is an outcome the gate must see, whatever broke
        return Failed(error=f"{subject.name}: {type(error).__name__}: {error}")
