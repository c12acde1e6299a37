"""Scores of the route: what the specification says of the visits, in the letters of `evals.routes.check`."""

from typing import Final

from evals.models.case import Case
from evals.models.route import RouteScore
from evals.models.trace import Trace
from evals.routes.check import check
from evals.scorers.scorer import scorer


def route_score_of(case: Case, trace: Trace) -> RouteScore:
    """The trace against its case's specification, concurrent visits and the recorded confidence included.

    That of the last pair is remembered: one trial is asked for it by seven scorers in a row.
    """
    if not (_last and _last[0][0] is case and _last[0][1] is trace):
        _last[:] = [(case, trace, check(case.route_spec, trace.route, trace.guarded, trace.supersteps))]
    return _last[0][2]


_last: Final[list[tuple[Case, Trace, RouteScore]]] = []


@scorer("route.pass", unit="fraction", better="higher", primary=True)
def route_pass(case: Case, trace: Trace) -> float:
    """1 if the route breaks no hard constraint, its fitness F is at least 0.9 and it is no longer than the maximum."""
    return float(route_score_of(case, trace).passed)


@scorer("route.score", unit="fraction", better="higher")
def route_score(case: Case, trace: Trace) -> float:
    """R = 0.6 F + 0.25 P + 0.15 E, halved if a hard constraint is broken; the best alternative counts."""
    return route_score_of(case, trace).R


@scorer("route.fitness", unit="fraction", better="higher")
def route_fitness(case: Case, trace: Trace) -> float:
    """F: weighted share of the activated constraints that the route fulfils."""
    return route_score_of(case, trace).F


@scorer("route.precision", unit="fraction", better="higher")
def route_precision(case: Case, trace: Trace) -> float:
    """P: share of visits within the cap of their node and not after the writer."""
    return route_score_of(case, trace).P


@scorer("route.efficiency", unit="fraction", better="higher")
def route_efficiency(case: Case, trace: Trace) -> float:
    """E: 1 up to the step target, falling evenly to 0 just past the maximum, 0 beyond the hard maximum."""
    return route_score_of(case, trace).E


@scorer("route.alignment", unit="fraction", better="higher")
def route_alignment(case: Case, trace: Trace) -> float:
    """A, a diagnostic: similarity 2·LCS / (visits + exemplar) to the nearest exemplar of the best alternative."""
    return route_score_of(case, trace).A
