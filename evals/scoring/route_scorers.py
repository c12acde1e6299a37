"""Scorers of the route and of the decisions at decision points."""

from typing import Final

from evals.models.case import Case
from evals.models.route_spec import RouteScore
from evals.models.trace import Trace
from evals.routes.route_check import ROUTE_FITNESS, ROUTE_PASSES, check
from evals.scoring.scorer import NotApplicable, scorer


def route_score_of(case: Case, trace: Trace) -> RouteScore:
    """The trace against its case's specification, concurrent visits and the recorded confidence included.

    That of the last pair is remembered: one trial is asked for it by seven scorers in a row.
    """
    if not (_last and _last[0][0] is case and _last[0][1] is trace):
        spec = case.route_spec
        _last[:] = [(case, trace, check(spec, trace.route, trace.state(spec.node_caps), trace.supersteps))]
    return _last[0][2]


_last: Final[list[tuple[Case, Trace, RouteScore]]] = []


@scorer(ROUTE_PASSES, unit="fraction", better="higher", primary=True, label="route")
def route_pass(case: Case, trace: Trace) -> bool:
    """1 if the route breaks no hard constraint, its fitness F is at least 0.9 and it is no longer than the maximum."""
    return route_score_of(case, trace).passed


@scorer("route.score", unit="fraction", better="higher", label="route")
def route_score(case: Case, trace: Trace) -> float:
    """R = 0.6 F + 0.25 P + 0.15 E, halved if a hard constraint is broken; the best alternative counts."""
    return route_score_of(case, trace).R


@scorer(ROUTE_FITNESS, unit="fraction", better="higher", label="route")
def route_fitness(case: Case, trace: Trace) -> float:
    """F: weighted share of the activated constraints that the route fulfils."""
    return route_score_of(case, trace).F


@scorer("route.precision", unit="fraction", better="higher", label="route")
def route_precision(case: Case, trace: Trace) -> float:
    """P: share of steps within the cap of their node and not after the last one."""
    return route_score_of(case, trace).P


@scorer("route.efficiency", unit="fraction", better="higher", label="route")
def route_efficiency(case: Case, trace: Trace) -> float:
    """E: 1 up to the step target, falling evenly to 0 just past the maximum, 0 beyond the hard maximum."""
    return route_score_of(case, trace).E


@scorer("route.alignment", unit="fraction", better="higher", label="route")
def route_alignment(case: Case, trace: Trace) -> float:
    """A, a diagnostic: similarity 2·LCS / (steps + exemplar) to the nearest exemplar of the best alternative."""
    if not any(way.exemplars for way in case.route_spec.alternatives):
        raise NotApplicable("the case has no exemplar of a route")
    return route_score_of(case, trace).A


@scorer("decision.score", primary=True, open_loop=True, macro=True, label="decision_points")
def decision_score(case: Case, trace: Trace) -> float:
    """Mean grade (1 right, between defensible, 0 wrong) of the node the router chooses, before any override, at each
    decision point; skipped unless all the case's points are recorded, so that variants answer the same questions. A
    point that leaves the router no choice is left out. Over cases: the mean by best node, averaged over best nodes
    (macro-average)."""
    points = case.known.decision_points
    if not points:
        raise NotApplicable("the case has no decision points")
    asked = [point for point in points if point.id not in trace.without_say]
    grades = [point.accept.get(trace.choices[point.id], 0.0) for point in asked if point.id in trace.choices]
    if len(grades) < len(asked):
        raise NotApplicable(f"{len(asked) - len(grades)} of {len(points)} decision points are not recorded")
    if not grades:
        raise NotApplicable("the router has no choice of its own at any of the case's decision points")
    return sum(grades) / len(grades)


SCORERS: Final = (
    route_pass,
    decision_score,
    route_score,
    route_fitness,
    route_precision,
    route_efficiency,
    route_alignment,
)
