"""All routes that a specification lets through."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from evals.content_cache import Kept, digest_of
from evals.models.route_spec import Constraint, ConstraintType, RouteAlternative, RouteSpec
from evals.routes.constraints import RULES, condition_holds, walk_of
from evals.routes.route_check import check, judged
from evals.triage.dataset.dataset_layout import code_digest, libraries_digest
from evals.triage.nodes import NODES
from evals.triage.route_spec_strictness import STRICTNESS_LENGTH, SURE, UNSURE, Route, State, Strictness

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


class _Way:
    """One alternative in one band: the rules that apply there."""

    def __init__(self, alternative: RouteAlternative, state: State, rules: Rules) -> None:
        applied = [constraint for constraint in alternative.constraints if condition_holds(constraint, state)]
        self._rules = [(constraint, rules.one(constraint)) for constraint in applied]
        hard = [constraint for constraint in applied if constraint.hard]
        self.lives = rules.all_of(constraint for constraint in hard if constraint.type in _LASTING)
        """Whether no route that begins like this is lost already, but for its length."""
        self.keeps = rules.all_of(constraint for constraint in hard if constraint.type not in _LASTING)
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
    code = code_digest("routes/*.py", "models/route_spec.py", "triage/dataset/passing_routes.py")
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
