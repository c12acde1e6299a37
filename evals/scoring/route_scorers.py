"""Scorers of the route and of decisions at decision points, and the grade of each answer there."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from evals.models.case import Case, RouteScore
from evals.models.metrics import Scored
from evals.models.run import CaseInfo, Trial
from evals.models.trace import Trace
from evals.routes.route_check import ROUTE_FITNESS, ROUTE_PASSES, check
from evals.scoring.scorer import NotApplicable, scorer

Cases = Mapping[str, Case | CaseInfo]


class State(NamedTuple):
    """One decision point of a case, with its gold node. Where a score has one value per case, both are empty."""

    case_id: str
    point: str = ""
    gold: str = ""


def state_grades(trials: Sequence[Trial], cases: Cases, variant: str, scorer: str) -> dict[State, float]:
    """The mean grade of every state over the samples in which the whole case is scored, in order of state."""
    collected: dict[State, list[float]] = {}
    for trial in trials:
        if trial.trace.variant == variant and isinstance(trial.outcomes.get(scorer), Scored):
            choices = trial.trace.choices
            for point in cases[trial.trace.case_id].points:
                if (node := choices.get(point.id)) is not None:
                    state = State(trial.trace.case_id, point.id, point.gold)
                    collected.setdefault(state, []).append(point.accept.get(node, 0.0))
    return {state: sum(grades) / len(grades) for state, grades in sorted(collected.items())}


def unanswered_states(trials: Sequence[Trial], cases: Cases, variant: str, scorer: str) -> dict[State, float]:
    """What the grades above leave open: state -> share of the samples (above 0, up to 1) in which its case is not
    wholly answered. A state that left the supervisor no say is not open."""
    asked: dict[State, list[bool]] = {}
    for trial in sorted(trials, key=lambda trial: trial.trace.case_id):
        if trial.trace.variant == variant:
            lost, without_say = not isinstance(trial.outcomes.get(scorer), Scored), trial.trace.without_say
            for point in cases[trial.trace.case_id].points:
                if point.id not in without_say:
                    asked.setdefault(State(trial.trace.case_id, point.id, point.gold), []).append(lost)
    return {state: sum(lost) / len(lost) for state, lost in asked.items() if any(lost)}


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
