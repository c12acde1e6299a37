"""What the labels of a case ask a router to choose at each decision of a trial."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Final

from evals.models.case import END, Case, Choice, DecisionPoint, RouteAlternative, RouteNode, RouteSpec
from evals.models.forced_decision import ForcedChoice, Label
from evals.models.trace import Decision, Trace, Visit
from evals.routes.constraints import tally, walk_of
from evals.routes.route_check import check, judged

_LONGEST: Final = 3
"""Most steps by which a route is completed where no exemplar says how. Chosen by hand: the search is exponential."""
_MOST: Final = 1_000
"""Ways of so many steps that are tried; of more than 10 names two steps are tried, of more than 31 one."""


def labelled_choices(case: Case, trace: Trace) -> tuple[ForcedChoice, ...]:
    """The choices to force in a failed trial, earliest decision first; none of them is tried yet.

    A decision is wrong if the labels allow another choice and not the one that was made. Choices are forced at wrong
    decisions; at all of them where none is wrong. Order at one decision: a labelled decision point in the same state,
    best grade first; else what exemplars with this beginning go on to, in their order; else steps that constraints name
    and after which a route can pass.
    """
    points = _points(case, trace)
    wrong: list[ForcedChoice] = []
    others: list[ForcedChoice] = []
    for decision in trace.decisions:
        if decision.tasks:  # a plan chooses tasks, several at a time
            continue
        made, point = decision.routed, points.get(decision.index)
        asked: dict[Choice, Label] = {}
        for choice, label in _asked(case.route_spec, trace, decision, point):
            asked.setdefault(choice, label)
        allowed = made in asked or (point is None and _may_pass(case.route_spec, trace, decision, made))
        (others if allowed else wrong).extend(
            ForcedChoice(decision=decision.index, made=made, choice=choice, label=label)
            for choice, label in asked.items()
            if choice != made
        )
    return tuple(wrong or others)


def _points(case: Case, trace: Trace) -> dict[int, DecisionPoint]:
    """Decision -> the labelled point whose router sent the same request, so that it was in the same state. Known where
    one agent is asked once per decision, and once more per correction."""
    labelled = {point.id: point for point in case.points}
    by_key = {each.keys[0]: labelled[each.point] for each in trace.points if each.keys and each.point in labelled}
    asked = [made.index for made in trace.decisions for _ in range(1 + made.corrections)]
    calls = [
        [call.key for call in trace.calls if call.agent == agent] for agent in {call.agent for call in trace.calls}
    ]
    routers = (keys for keys in calls if len(keys) == len(asked))
    return {index: by_key[key] for keys in routers for index, key in zip(asked, keys, strict=True) if key in by_key}


def _asked(
    spec: RouteSpec, trace: Trace, decision: Decision, point: DecisionPoint | None
) -> Iterator[tuple[Choice, Label]]:
    """Choices that labels ask for, with the kind of label, in the order in which they are tried."""
    if point is not None:
        yield from ((choice, "decision point") for choice in sorted(point.accept, key=lambda each: -point.accept[each]))
        return
    before = tuple(visit.node for visit in _before(trace, decision))
    exemplars = [each for each in _exemplars(spec) if each[: len(before)] == before]
    for exemplar in exemplars:
        yield (exemplar[len(before)] if len(exemplar) > len(before) else END), "exemplar"
    for name in () if exemplars or not _named(spec) else (*_named(spec), END):
        if _may_pass(spec, trace, decision, name):
            yield name, "constraints"


def _before(trace: Trace, decision: Decision) -> tuple[Visit, ...]:
    """The steps before a decision took effect: those of a target include its router's own."""
    if not trace.is_target:
        return trace.steps[: decision.iteration]
    return trace.visits[: 1 + next(place for place, made in trace.decided.items() if made == decision)]


def _exemplars(spec: RouteSpec) -> list[tuple[RouteNode, ...]]:
    return [exemplar for way in spec.alternatives for exemplar in way.exemplars]


def _named(spec: RouteSpec) -> tuple[RouteNode, ...]:
    """The steps that constraints name, without those that may not occur."""
    rules = [rule for way in spec.alternatives for rule in way.constraints if rule.type != "absence"]
    return tuple(dict.fromkeys(name for rule in rules for name in (*rule.a, *rule.b)))


def _may_pass(spec: RouteSpec, trace: Trace, decision: Decision, choice: Choice) -> bool:
    """Whether a route that goes on with the choice can pass, as far as is known: a rule that depends on what a later
    decision states is left out."""
    before = _before(trace, decision)
    if choice == END:
        return bool(before) and _passes(spec, [visit.node for visit in before], trace.state(spec.node_caps))
    visits = (*before, *(Visit(node=name, superstep=len(before)) for name in choice.split(" ")))
    decisions = (*trace.decisions[: decision.index], decision.model_copy(update={"routed": choice}))
    state = trace.model_copy(update={"decisions": decisions, "visits": visits}).state(spec.node_caps)
    route = tuple(visit.node for visit in visits)
    if all(_is_spoilt(way, route) for way in spec.alternatives):
        return False
    room = max(way.steps.max for way in spec.alternatives) - len(route)
    return any(_passes(spec, (*route, *end), state) for end in _endings(spec, room))


def _is_spoilt(way: RouteAlternative, route: Sequence[RouteNode]) -> bool:
    """Whether the route has a step that it may not have, so that no ending helps."""
    rules = (rule for rule in way.constraints if rule.type == "absence" and rule.hard and not rule.condition)
    return any(name in route for rule in rules for name in rule.a)


def _passes(spec: RouteSpec, route: Sequence[RouteNode], state: Mapping[str, float | None]) -> bool:
    """Whether a route passes. The scores of the alternatives, which take longer, are needed only if one may."""
    walk = walk_of(route)
    for way in spec.alternatives:
        counts = [(rule, tally(rule, walk, state)) for rule in way.constraints]
        shares = [(rule, count.share) for rule, count in counts if count and count.activations]
        if judged(shares, len(walk), way.steps).passed:
            return check(spec, route, state).passed
    return False


def _endings(spec: RouteSpec, room: int) -> Iterable[tuple[RouteNode, ...]]:
    """How a route may go on for at most `room` steps, shortest first: as an exemplar ends, else with a few steps that
    constraints name."""
    if found := _exemplars(spec):
        ends = {exemplar[start:] for exemplar in found for start in range(len(exemplar) + 1)}
        return sorted((end for end in ends if len(end) <= room), key=len)
    names = _named(spec)
    lengths = (length for length in range(min(_LONGEST, room) + 1) if len(names) ** length <= _MOST)
    return (end for length in lengths for end in product(names, repeat=length))
