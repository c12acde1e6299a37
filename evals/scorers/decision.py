"""Scores of single decisions: what the supervisor chooses in frozen states with graded answers (open-loop)."""

from evals.models.case import Case
from evals.models.trace import Trace
from evals.scorers.scorer import NotApplicable, scorer


@scorer("decision.score", unit="fraction", better="higher", primary=True, open_loop=True, macro=True)
def decision_score(case: Case, trace: Trace) -> float:
    """Mean grade (1 right, between defensible, 0 wrong) of the node the supervisor chooses, before any guard, in each
    frozen state; skipped unless all of the case's are recorded, so that variants answer the same questions. A state in
    which its plan leaves the supervisor no choice is left out. Over cases: the mean by gold node, averaged over gold
    nodes (macro-average)."""
    points = case.labels.decision_points
    if not points:
        raise NotApplicable("the case has no decision points")
    asked = [point for point in points if point.id not in trace.without_say]
    grades = [point.accept.get(trace.choices[point.id], 0.0) for point in asked if point.id in trace.choices]
    if len(grades) < len(asked):
        raise NotApplicable(f"{len(asked) - len(grades)} of {len(points)} decision points are not recorded")
    if not grades:
        raise NotApplicable("its plan leaves the supervisor no choice in any of the case's decision points")
    return sum(grades) / len(grades)
