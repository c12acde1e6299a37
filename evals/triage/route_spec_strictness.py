"""Checks of a specification: how few routes pass, and which mutants it rejects."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from evals.models.route_spec import RouteAlternative, RouteNode, RouteSpec
from evals.routes.constraints import condition_holds
from evals.routes.route_check import check
from evals.triage.nodes import NODES

State = Mapping[str, float | None]
Route = tuple[RouteNode, ...]
MutantKind = Literal[
    "missing_must_visit",
    "skipped_critic",
    "doubled_critic",
    "steps_after_writer",
    "forbidden_question",
    "missing_question",
    "loop",
]

UNSURE: Final[State] = {"confidence_before_writer": 0.7, "confidence_before_critic": 0.7, "reviews_before_writer": 0}
SURE: Final[State] = {"confidence_before_writer": 0.9, "confidence_before_critic": 0.9, "reviews_before_writer": 0}
STRICTNESS_LENGTH: Final = 6


@dataclass(frozen=True)
class Strictness:
    """How many of all node sequences of 1 to `longest` visits pass; `share` is accepted / sequences."""

    accepted: int
    sequences: int

    @property
    def share(self) -> float:
        """0 (lets nothing through) to 1 (lets everything through)."""
        return self.accepted / self.sequences


@dataclass(frozen=True)
class Mutant:
    """A spoilt exemplar; `killed` if the alternative it was bred from no longer lets it pass."""

    kind: MutantKind
    visits: Route
    killed: bool


def state_for(route: Sequence[RouteNode]) -> State:
    """The confidence an exemplar is meant for: unsure (0.7) where it visits the critic, sure (0.9) where it goes
    without, none at all where the writer is never reached."""
    if "writer" not in route:
        return {}
    return UNSURE if "critic" in route else SURE


def rejected_exemplars(spec: RouteSpec) -> list[Route]:
    """Exemplars that their own alternative does not let pass; a sound specification has none."""
    return [
        exemplar
        for alternative in spec.alternatives
        for exemplar in alternative.exemplars
        if not check(_alone(spec, alternative), exemplar, state_for(exemplar)).passed
    ]


def mutants(spec: RouteSpec) -> list[Mutant]:
    """Every exemplar spoilt in every way its alternative must notice, duplicates and accidental exemplars left out.

    Each mutant is judged by the alternative it was bred from: another alternative may rightly not need the same visit.
    """
    exemplars = {exemplar for alternative in spec.alternatives for exemplar in alternative.exemplars}
    found: dict[tuple[int, Route, float | None], Mutant] = {}
    for index, alternative in enumerate(spec.alternatives):
        for exemplar in alternative.exemplars:
            for kind, visits, state in _spoilt(alternative, exemplar):
                if visits not in exemplars:
                    killed = not check(_alone(spec, alternative), visits, state).passed
                    key = (index, visits, state.get("confidence_before_writer"))
                    found.setdefault(key, Mutant(kind, visits, killed))
    return list(found.values())


def _alone(spec: RouteSpec, alternative: RouteAlternative) -> RouteSpec:
    return spec.model_copy(update={"alternatives": (alternative,)})


def _spoilt(alternative: RouteAlternative, exemplar: Route) -> Iterator[tuple[MutantKind, Route, State]]:
    state = state_for(exemplar)
    if alternative.question == "required":
        yield "missing_question", _without(exemplar, frozenset({"human_input"})), state
    for visits in _without_must_visits(alternative, exemplar, state):
        yield "missing_must_visit", visits, state
    if "critic" in exemplar:
        yield "doubled_critic", _doubled(exemplar, "critic"), state
        if "writer" in exemplar:
            yield "skipped_critic", _without(exemplar, frozenset({"critic"})), state
    if exemplar[-1:] == ("writer",):
        for node in NODES:
            yield "steps_after_writer", (*exemplar, node), state
    if alternative.question == "forbidden":
        for place in range(1, len(exemplar)):
            asked: Route = (*exemplar[:place], "human_input", *exemplar[place:])
            yield "forbidden_question", asked, state
    for node in dict.fromkeys(exemplar):
        yield "loop", _looped(exemplar, node, alternative.steps.max + 1), state


def _without_must_visits(alternative: RouteAlternative, exemplar: Route, state: State) -> Iterator[Route]:
    for constraint in alternative.constraints:
        demanded = constraint.type == "existence" and constraint.hard and constraint.min
        if demanded and condition_holds(constraint, state):
            yield _without(exemplar, frozenset(constraint.a))


def _without(route: Route, nodes: frozenset[RouteNode]) -> Route:
    return tuple(node for node in route if node not in nodes)


def _doubled(route: Route, node: RouteNode) -> Route:
    place = route.index(node)
    return (*route[:place], node, *route[place:])


def _looped(route: Route, node: RouteNode, length: int) -> Route:
    """The route with `node` visited over and over, until it is `length` visits long."""
    place = route.index(node)
    return (*route[:place], *((node,) * (length - len(route))), *route[place:])
