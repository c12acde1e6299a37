"""Routes that a specification lets through, how few they are, and which mutants of it are rejected."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from pydantic import TypeAdapter

from evals.content_cache import Kept, digest_of
from evals.models.case import Constraint, ConstraintType, RouteAlternative, RouteNode, RouteSpec
from evals.routes.constraints import RULES, condition_holds, walk_of
from evals.routes.route_check import check, judged
from evals.triage.dataset.dataset_layout import code_digest, libraries_digest
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


_SEQUENCES: Final = sum(len(NODES) ** length for length in range(1, STRICTNESS_LENGTH + 1))
BANDS: Final[Mapping[str, State]] = {"unsure": UNSURE, "sure": SURE}

Passing = Mapping[str, frozenset[Route]]
"""Band of confidence -> the routes of up to six visits that pass in it."""
_STORED: Final = TypeAdapter(dict[str, list[Route]])

_LASTING: Final[frozenset[ConstraintType]] = frozenset(
    {"init", "absence", "precedence", "chain_precedence", "not_succession", "not_coexistence"}
)
"""Once broken these stay broken, however the route goes on."""
_FULFILLED: Final = frozenset({None, 1.0})


class _Rule(dict[Route, float | None]):
    """How far any sequence fulfils one constraint, its guard apart, 0 to 1; None where nothing activates it. Asked once
    for each."""

    def __init__(self, constraint: Constraint) -> None:
        self._constraint = constraint

    def __missing__(self, route: Route) -> float | None:
        tally = RULES[self._constraint.type](self._constraint, _walk(route))
        share = self[route] = tally.share if tally.activations else None
        return share


class _AllKept(dict[Route, bool]):
    """Whether any sequence keeps all of some rules. Asked once for each, as many specifications share these rules."""

    def __init__(self, rules: Sequence[_Rule]) -> None:
        self._rules = rules

    def __missing__(self, route: Route) -> bool:
        kept = self[route] = all(rule[route] in _FULFILLED for rule in self._rules)
        return kept


_walk: Final = lru_cache(maxsize=1)(walk_of)
"""A route's rules are asked one after the other."""


class Rules:
    """What rules said of the sequences they were asked about."""

    def __init__(self) -> None:
        self._known: dict[str, _Rule] = {}
        self._sets: dict[tuple[int, ...], _AllKept] = {}

    def one(self, constraint: Constraint) -> _Rule:
        """The rule of that content, guard and weight apart: whoever asks knows whether it applies."""
        name = constraint.model_dump_json(include={"type", "a", "b", "min", "max"})
        return self._known.setdefault(name, _Rule(constraint))

    def all_of(self, constraints: Iterable[Constraint]) -> _AllKept:
        """Several rules at once."""
        rules = [self.one(constraint) for constraint in constraints]
        return self._sets.setdefault(tuple(map(id, rules)), _AllKept(rules))


def _lasts(constraint: Constraint) -> bool:
    """Whether a constraint stays broken once it is: a count that is over its maximum only grows."""
    return constraint.type in _LASTING or (constraint.type == "existence" and constraint.min is None)


class _Way:
    """One alternative in one band: the rules that apply there."""

    def __init__(self, alternative: RouteAlternative, state: State, rules: Rules) -> None:
        applied = [constraint for constraint in alternative.constraints if condition_holds(constraint, state)]
        self._rules = [(constraint, rules.one(constraint)) for constraint in applied]
        hard = [constraint for constraint in applied if constraint.hard]
        self.lives = rules.all_of(constraint for constraint in hard if _lasts(constraint))
        """Whether no route that begins like this is lost already, but for its length."""
        self.keeps = rules.all_of(constraint for constraint in hard if not _lasts(constraint))
        """Whether a route that lives breaks no hard rule."""
        self._steps = alternative.steps
        self.longest = alternative.steps.max

    def passes(self, route: Route) -> bool:
        """Whether a route that lives and keeps the hard rules passes by this alternative."""
        shares = [(constraint, rule[route]) for constraint, rule in self._rules]
        activated = [(constraint, share) for constraint, share in shares if share is not None]
        return judged(activated, len(route), self._steps).passed


def passing_of(spec: RouteSpec, cache: Path) -> Passing:
    """The passing routes by band; specifications that differ in name and exemplars only share one remembered answer."""
    return all_passing([spec], cache)[0]


def strictness_of(spec: RouteSpec, cache: Path) -> Strictness:
    """How many sequences of up to six visits an unsure supervisor may take."""
    return Strictness(len(passing_of(spec, cache)["unsure"]), _SEQUENCES)


def all_passing(specs: Sequence[RouteSpec], cache: Path) -> list[Passing]:
    """The passing routes of each specification, by band."""
    kept, rules, found = Kept(cache / "passing"), Rules(), list[Passing]()
    known: dict[str, Passing] = {}
    code = code_digest("routes/*.py", "models/case.py", "triage/dataset/route_strictness.py")
    for spec in specs:
        name = digest_of(code, libraries_digest(cache), _told(spec))
        if name not in known:
            known[name] = _remembered(kept, name) or _tried(kept, name, spec, rules)
        found.append(known[name])
    return found


def passing_routes(
    spec: RouteSpec, state: State, rules: Rules | None = None, longest: int = STRICTNESS_LENGTH
) -> Iterator[Route]:
    """Every sequence of 1 to `longest` visits that passes in this state; `rules` remembers what rules said before."""
    shared = rules or Rules()
    return _accepted(spec, state, [_Way(each, state, shared) for each in spec.alternatives], (), longest)


def _accepted(spec: RouteSpec, state: State, ways: Sequence[_Way], before: Route, longest: int) -> Iterator[Route]:
    for node in NODES:
        route = (*before, node)
        living = [way for way in ways if way.lives[route]]
        passed = [way.passes(route) for way in living if way.keeps[route]]
        if True in passed and (False not in passed or check(spec, route, state).passed):
            yield route  # a hard rule that is broken halves a score: no such alternative comes to a passing one's .54
        if len(route) < longest and any(len(route) < way.longest for way in living):
            yield from _accepted(spec, state, living, route, longest)


def _remembered(kept: Kept, name: str) -> Passing | None:
    known = kept.get(name)
    return None if known is None else _by_band(_STORED.validate_json(known))


def _tried(kept: Kept, name: str, spec: RouteSpec, rules: Rules) -> Passing:
    found = {band: sorted(passing_routes(spec, state, rules)) for band, state in BANDS.items()}
    kept.put(name, _STORED.dump_json(found))
    return _by_band(found)


def _by_band(found: Mapping[str, Sequence[Route]]) -> Passing:
    return {band: frozenset(found[band]) for band in BANDS}


def _told(spec: RouteSpec) -> bytes:
    """What of a specification decides which routes pass: not its name and exemplars."""
    bare = [each.model_copy(update={"exemplars": ()}) for each in spec.alternatives]
    return spec.model_copy(update={"name": "", "alternatives": tuple(bare)}).model_dump_json(by_alias=True).encode()
