"""All routes that a specification lets through."""

from collections.abc import Iterator, Mapping, Sequence
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


_walk: Final = lru_cache(maxsize=1)(walk_of)
"""A route's rules are asked one after the other."""


class _Way:
    """One alternative in one band: the rules that apply there."""

    def __init__(self, alternative: RouteAlternative, state: State, rules: dict[str, _Rule]) -> None:
        applied = [constraint for constraint in alternative.constraints if condition_holds(constraint, state)]
        self._rules = [(constraint, _rule(constraint, rules)) for constraint in applied]
        hard = [(constraint, rule) for constraint, rule in self._rules if constraint.hard]
        self._lasting = [rule for constraint, rule in hard if constraint.type in _LASTING]
        self._mended = [rule for constraint, rule in hard if constraint.type not in _LASTING]
        self._steps = alternative.steps
        self.longest = alternative.steps.max

    def lives(self, route: Route) -> bool:
        """Whether no route that begins like this is lost already, but for its length."""
        return _kept(self._lasting, route)

    def passes(self, route: Route) -> bool | None:
        """Whether a route that lives passes by this alternative; None where it breaks a hard rule."""
        if not _kept(self._mended, route):
            return None
        shares = [(constraint, rule[route]) for constraint, rule in self._rules]
        activated = [(constraint, share) for constraint, share in shares if share is not None]
        return judged(activated, len(route), self._steps).passed


def _kept(hard: Sequence[_Rule], route: Route) -> bool:
    for rule in hard:  # noqa: SIM110 - the most frequent question here, and a generator costs more than its answer
        if rule[route] not in _FULFILLED:
            return False
    return True


def passing_of(spec: RouteSpec, cache: Path) -> Passing:
    """The passing routes by band; specifications that differ in name and exemplars only share one remembered answer."""
    return all_passing([spec], cache)[0]


def strictness_of(spec: RouteSpec, cache: Path) -> Strictness:
    """How many sequences of up to six visits an unsure supervisor may take."""
    return Strictness(len(passing_of(spec, cache)["unsure"]), _SEQUENCES)


def all_passing(specs: Sequence[RouteSpec], cache: Path) -> list[Passing]:
    """The passing routes of each specification, by band."""
    kept, rules, found = Kept(cache / "passing"), dict[str, _Rule](), list[Passing]()
    known: dict[str, Passing] = {}
    for name, spec in zip((_name(spec, cache) for spec in specs), specs, strict=True):
        if name not in known:
            known[name] = _remembered(kept, name) or _tried(kept, name, spec, rules)
        found.append(known[name])
    return found


def passing_routes(
    spec: RouteSpec, state: State, rules: dict[str, _Rule] | None = None, longest: int = STRICTNESS_LENGTH
) -> Iterator[Route]:
    """Every sequence of 1 to `longest` visits that passes in this state; `rules` remembers what rules said before."""
    shared = {} if rules is None else rules
    return _accepted(spec, state, [_Way(each, state, shared) for each in spec.alternatives], (), longest)


def _accepted(spec: RouteSpec, state: State, ways: Sequence[_Way], before: Route, longest: int) -> Iterator[Route]:
    for node in NODES:
        route = (*before, node)
        living = [way for way in ways if way.lives(route)]
        passed = [way.passes(route) for way in living]
        if True in passed and (False not in passed or check(spec, route, state).passed):
            yield route  # a hard rule that is broken halves a score: no such alternative comes to a passing one's .54
        if any(len(route) < min(way.longest, longest) for way in living):
            yield from _accepted(spec, state, living, route, longest)


def _rule(constraint: Constraint, rules: dict[str, _Rule]) -> _Rule:
    """The rule of that content, guard and weight apart: whoever asks knows whether it applies."""
    name = constraint.model_dump_json(include={"type", "a", "b", "min", "max"})
    return rules.setdefault(name, _Rule(constraint))


def _remembered(kept: Kept, name: str) -> Passing | None:
    known = kept.get(name)
    return None if known is None else _by_band(_STORED.validate_json(known))


def _tried(kept: Kept, name: str, spec: RouteSpec, rules: dict[str, _Rule]) -> Passing:
    found = {band: sorted(passing_routes(spec, state, rules)) for band, state in BANDS.items()}
    kept.put(name, _STORED.dump_json(found))
    return _by_band(found)


def _by_band(found: Mapping[str, Sequence[Route]]) -> Passing:
    return {band: frozenset(found[band]) for band in BANDS}


def _name(spec: RouteSpec, cache: Path) -> str:
    """Over what decides which routes pass: the rules and the code that applies them, not name and exemplars."""
    bare = [each.model_copy(update={"exemplars": ()}) for each in spec.alternatives]
    text = spec.model_copy(update={"name": "", "alternatives": tuple(bare)}).model_dump_json(by_alias=True)
    return digest_of(
        code_digest("routes/*.py", "models/route_spec.py", "triage/dataset/passing_routes.py"),
        libraries_digest(cache),
        text.encode(),
    )
