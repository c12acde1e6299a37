"""Scores of single decisions: what the supervisor chooses in frozen states with graded answers (open-loop)."""

from evals.models.case import Case
from evals.models.trace import Trace
from evals.scorers.scorer import NotApplicable, scorer


@scorer("decision.score", unit="fraction", better="higher", primary=True, open_loop=True, macro=True)
def decision_score(case: Case, trace: Trace) -> float:
    """Mean grade (1 right, between defensible, 0 wrong) of the node the supervisor chooses, before any guard, in each
    frozen state; skipped unless all of the case's are recorded, so that variants answer the same questions. Over cases:
    the mean by gold node, averaged over gold nodes (macro-average)."""
    points = case.labels.decision_points
    if not points:
        raise NotApplicable("the case has no decision points")
    chosen = {answer.point: answer.chosen for answer in trace.points}
    grades = [point.accept.get(choice, 0.0) for point in points if (choice := chosen.get(point.id)) is not None]
    if len(grades) < len(points):
        raise NotApplicable(f"{len(points) - len(grades)} of {len(points)} decision points are not recorded")
    return sum(grades) / len(grades)
