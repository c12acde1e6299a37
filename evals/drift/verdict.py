"""From compared fields to a verdict, and to the sample that would have been enough."""

import math
from collections.abc import Sequence
from typing import Final

from evals.drift.meaning import CONFIDENCE, DECISION
from evals.drift.population import Recorded
from evals.drift.power import needed
from evals.drift.sample import in_order, taken
from evals.drift.survey import Estimate, wilson_at
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK, EXIT_WORSE
from evals.models.drift import FieldDrift, Needed, Verdict

_CAUTION: Final = 0.6
"""Two-sided, so that the true floor is below its upper end four times in five: what is planned with a floor that was
measured too low would not be enough."""


def judged(fields: Sequence[FieldDrift], enough: Needed, precision: float) -> Verdict:
    """Drifted where a field moved by more than chance; else representative where decisions cannot have moved by as much
    as `precision`; else nobody can tell."""
    decision = next((field for field in fields if field.primary), None)
    if moved := [field for field in fields if field.moved]:
        sentence = "drifted: the model does not answer as the tape does, by more than chance"
        return Verdict(status="drifted", exit_code=EXIT_WORSE, sentence=sentence, reasons=tuple(map(_moved, moved)))
    if decision is None or decision.change is None or decision.change.high is None:
        return Verdict(
            status="cannot tell",
            exit_code=EXIT_CANNOT_JUDGE,
            sentence="cannot tell: no decision of a supervisor was drawn",
            reasons=("take a larger --sample, or a suite whose supervisor asks a model",),
        )
    if decision.change.high < precision:
        bound = f"decisions differ from the tape by less than {_points(decision.change.high)} more than repeats do"
        sentence = f"representative: {bound}, and nothing else moved by more than chance"
        return Verdict(status="representative", exit_code=EXIT_OK, sentence=sentence)
    return Verdict(
        status="cannot tell",
        exit_code=EXIT_CANNOT_JUDGE,
        sentence=f"cannot tell: {decision.requests} decisions leave room for {_points(decision.change.high)} of change "
        f"where {_points(precision)} were to be seen",
        reasons=(_remedy(enough),),
    )


def enough_for(
    decision: FieldDrift | None, floor: Estimate | None, requests: Sequence[Recorded], precision: float, seed: int
) -> Needed:
    """The decisions, and the sample of all requests, that find a change of `precision` with 80 % power; more than were
    asked where those did not settle it."""
    planned = wilson_at(floor.value, floor.effective, _CAUTION)[1] if floor is not None else 0.0
    level = decision.level if decision is not None else 0.025
    decisions = needed(precision, planned, level)
    if decisions is not None and decision is not None and decision.change is not None:
        decisions = max(decisions, _unsettled(decision, precision))
    return Needed(decisions=decisions, sample=_sample(decisions, requests, seed), floor=planned)


def _unsettled(decision: FieldDrift, precision: float) -> int:
    """The decisions at which the interval would end below `precision` if its middle stays; twice as many if that is
    above. Intervals shrink with the root of the size."""
    change = decision.change
    if change is None or change.high is None or change.high < precision or decision.moved:
        return 0
    if change.value >= precision:
        return 2 * decision.requests
    return math.ceil(decision.requests * ((change.high - change.value) / (precision - change.value)) ** 2)


def _sample(decisions: int | None, requests: Sequence[Recorded], seed: int) -> int | None:
    """The smallest sample with that many decisions; None where all requests have fewer."""
    if decisions is None or sum(DECISION in request.fields for request in requests) < decisions:
        return None
    strata = in_order(requests, seed)
    low, high = 0, len(requests)
    while high - low > 1:
        middle = (low + high) // 2
        found = sum(DECISION in request.fields for request in taken(strata, middle))
        low, high = (low, middle) if found >= decisions else (middle, high)
    return high


def _remedy(enough: Needed) -> str:
    if enough.sample is not None:
        return f"{enough.decisions} decisions would do: the same command with --sample {enough.sample} --extend"
    if enough.decisions is None:
        return "repeats differ too much among themselves for that: set a larger --precision"
    return (
        f"it takes {enough.decisions} decisions, and fewer are recorded: record more cases, or set a larger --precision"
    )


def _moved(field: FieldDrift) -> str:
    change = field.change
    if field.field == CONFIDENCE:
        shift = f"{change.value:+.2f}" if change else "?"
        return f"{field.agent} {field.field}: shifted by {shift} (p {_p(field)})"
    more = _points(change.value) if change else "?"
    return f"{field.agent} {field.field}: {more} further from the tape than repeats from each other (p {_p(field)})"


def _p(field: FieldDrift) -> str:
    if field.p_adjusted is None or field.p_adjusted >= 0.001:
        return f"= {field.p_adjusted:.3f}" if field.p_adjusted is not None else "unknown"
    return "< 0.001"


def _points(fraction: float) -> str:
    """A fraction in points, rounded up: a bound never flatters."""
    points = math.ceil(round(100 * fraction, 6))
    return f"{points} point{'' if points == 1 else 's'}"
