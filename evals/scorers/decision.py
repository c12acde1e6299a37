"""Scores of single decisions: what the supervisor chooses in frozen states with graded answers (open-loop)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evals.models.case import Case
from evals.models.route import Choice
from evals.models.trace import Trace
from evals.scorers.scorer import NotApplicable, scorer


@dataclass(frozen=True)
class GradedPoint:
    """One answered decision point: `gold` is its best graded node (the first of equals), `grade` is 0..1."""

    case_id: str
    point: str
    gold: Choice
    chosen: Choice
    grade: float


def graded_points(case: Case, trace: Trace) -> tuple[GradedPoint, ...]:
    """The case's decision points that this trace has a recorded answer to, in the order of the labels."""
    chosen = {answer.point: answer.chosen for answer in trace.points}
    answered = [(point, chosen.get(point.id)) for point in case.labels.decision_points]
    return tuple(
        GradedPoint(case.id, point.id, gold_node(point.accept), choice, point.accept.get(choice, 0.0))
        for point, choice in answered
        if choice is not None
    )


def gold_node(accept: Mapping[Choice, float]) -> Choice:
    """The best graded next node of a decision point, the first named of equals."""
    return max(accept, key=lambda node: accept[node])


def macro_average(points: Iterable[GradedPoint]) -> float | None:
    """Mean over gold nodes of the mean grade of their points, over all cases; None without a point.

    A supervisor that always says "codebase_search" cannot score well by that being the most frequent right answer.
    """
    grades: dict[Choice, list[float]] = {}
    for point in points:
        grades.setdefault(point.gold, []).append(point.grade)
    means = [sum(values) / len(values) for values in grades.values()]
    return sum(means) / len(means) if means else None


@scorer("decision.score", unit="fraction", better="higher", primary=True, open_loop=True)
def decision_score(case: Case, trace: Trace) -> float:
    """Mean grade (1 right, between defensible, 0 wrong) of the node the supervisor chooses, before any guard, in each
    frozen state of the case; skipped unless every one is recorded, so that variants answer the same questions."""
    points = case.labels.decision_points
    if not points:
        raise NotApplicable("the case has no decision points")
    graded = graded_points(case, trace)
    if len(graded) < len(points):
        raise NotApplicable(f"{len(points) - len(graded)} of {len(points)} decision points are not recorded")
    return sum(point.grade for point in graded) / len(graded)
