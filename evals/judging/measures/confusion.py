"""Confusion of decisions: what should have been, by what was chosen, and what was chosen, by where it led."""

from collections.abc import Iterable
from typing import Literal

from evals.judging.measures.evidence import Evidence
from evals.models.measure import Confusion, ConfusionCell
from evals.models.route import Choice

Pair = tuple[Choice, Choice, float]
"""Row, column, and the grade the labels give for the column."""


def confusions_of(evidence: Evidence) -> tuple[Confusion, Confusion]:
    """Frozen states, then the decisions of exact trials."""
    return _frozen(evidence), _decided(evidence)


def _frozen(evidence: Evidence) -> Confusion:
    answered: list[Pair] = []
    asked = 0
    for trial in evidence.own():
        for point in evidence.cases[trial.trace.case_id].points:
            asked += point.id not in trial.trace.without_say
            choice = trial.trace.choices.get(point.id)
            if choice is not None:
                answered.append((point.gold, choice, point.accept.get(choice, 0.0)))
    return _confusion(evidence.variant, "frozen states", answered, asked)


def _decided(evidence: Evidence) -> Confusion:
    decisions = [
        (decision.chosen, decision.routed, float(decision.chosen == decision.routed))
        for trial in evidence.exact()
        for decision in trial.trace.decisions
    ]
    known = sum(len(trial.trace.decisions) for trial in evidence.own())
    return _confusion(evidence.variant, "trials", decisions, known)


def _confusion(
    variant: str, decisions: Literal["frozen states", "trials"], pairs: Iterable[Pair], of: int
) -> Confusion:
    counted: dict[tuple[Choice, Choice], list[float]] = {}
    for row, column, credit in pairs:
        counted.setdefault((row, column), []).append(credit)
    cells = tuple(
        ConfusionCell(row=row, column=column, count=len(mine), credit=sum(mine))
        for (row, column), mine in sorted(counted.items())
    )
    return Confusion(variant=variant, decisions=decisions, cells=cells, n=sum(cell.count for cell in cells), of=of)
