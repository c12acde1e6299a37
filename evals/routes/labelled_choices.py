"""What the labels of a case ask a router to choose at each decision of a trial."""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from typing import Final

from evals.models.case import Case, DecisionPoint
from evals.models.forced_choice import ForcedChoice, Label
from evals.models.route_spec import Choice, RouteNode, RouteSpec
from evals.models.trace import Decision, Trace, Visit
from evals.routes.route_check import check

END: Final = "end"
_LONGEST: Final = 3
"""Steps by which a route without exemplars is completed at most."""


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
        index, made, point = decision.index, decision.routed, points.get(decision.index)
        asked: dict[Choice, Label] = {}
        for choice, label in _asked(case.route_spec, trace, decision, point):
            asked.setdefault(choice, label)
        allowed = made in asked or (point is None and _may_pass(case.route_spec, trace, decision, made))
        (others if allowed else wrong).extend(
            ForcedChoice(decision=index, made=made, choice=choice, label=label)
            for choice, label in asked.items()
            if choice != made
        )
    return tuple(wrong or others)


def _points(case: Case, trace: Trace) -> Mapping[int, DecisionPoint]:
    """Decision -> the labelled point whose router sent the same request, so that it was in the same state."""
    labelled = {point.id: point for point in case.points}
    by_key = {key: labelled[each.point] for each in trace.points if each.point in labelled for key in each.keys[:1]}
    found: dict[int, DecisionPoint] = {}
    for agent in {call.agent for call in trace.calls if call.key in by_key}:
        keys = [call.key for call in trace.calls if call.agent == agent]
        own = [made for place, made in trace.decided.items() if trace.visits[place].node == agent] or trace.decisions
        asked = [decision for decision in own for _ in range(1 + decision.corrections)]
        if len(asked) == len(keys):
            found |= {made.index: by_key[key] for made, key in zip(asked, keys, strict=True) if key in by_key}
    return found


def _asked(
    spec: RouteSpec, trace: Trace, decision: Decision, point: DecisionPoint | None
) -> Iterator[tuple[Choice, Label]]:
    """Choices that labels ask for, with the kind of label, in the order in which they are tried."""
    if point is not None:
        for choice in sorted(point.accept, key=lambda each: -point.accept[each]):
            yield choice, "decision point"
        return
    before = tuple(visit.node for visit in _before(trace, decision))
    exemplars = [each for way in spec.alternatives for each in way.exemplars if each[: len(before)] == before]
    for exemplar in exemplars:
        yield (exemplar[len(before)] if len(exemplar) > len(before) else END), "exemplar"
    for name in () if exemplars or not _named(spec) else (*_named(spec), END):
        if _may_pass(spec, trace, decision, name):
            yield name, "constraints"


def _before(trace: Trace, decision: Decision) -> tuple[Visit, ...]:
    """The steps before a decision took effect: those of a target include its router's own."""
    if not trace.is_target:
        return trace.steps[: decision.iteration]
    place = next(place for place, made in trace.decided.items() if made.index == decision.index)
    return trace.visits[: place + 1]


def _named(spec: RouteSpec) -> tuple[RouteNode, ...]:
    """The steps that constraints name, without those that may not occur."""
    rules = [rule for way in spec.alternatives for rule in way.constraints if rule.type != "absence"]
    return tuple(dict.fromkeys(name for rule in rules for name in (*rule.a, *rule.b)))


def _may_pass(spec: RouteSpec, trace: Trace, decision: Decision, choice: Choice) -> bool:
    """Whether a route that goes on with the choice can pass, as far as is known: a rule that depends on what a later
    decision states is left out."""
    before = _before(trace, decision)
    if choice == END:
        return bool(before) and check(spec, [visit.node for visit in before], trace.guarded).passed
    chosen = [Visit(node=name, superstep=len(before)) for name in choice.split(" ")]
    so_far = (*trace.decisions[: decision.index], decision.model_copy(update={"routed": choice}))
    state = trace.model_copy(update={"decisions": so_far, "visits": (*before, *chosen)}).guarded
    route = [visit.node for visit in (*before, *chosen)]
    return any(check(spec, (*route, *end), state).passed for end in _completions(spec.model_dump_json(by_alias=True)))


@cache
def _completions(spec_json: str) -> tuple[tuple[RouteNode, ...], ...]:
    """How routes may go on: the ends of exemplars, else up to three steps that constraints name; shortest first."""
    spec = RouteSpec.model_validate_json(spec_json)
    exemplars = [each for way in spec.alternatives for each in way.exemplars]
    ends = {each[start:] for each in exemplars for start in range(len(each) + 1)}
    if not exemplars:
        ends = {end for length in range(_LONGEST + 1) for end in product(_named(spec), repeat=length)}
    return tuple(sorted(ends, key=lambda end: (len(end), end)))
