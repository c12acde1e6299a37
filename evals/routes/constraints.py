"""Constraints of a route, how often a route fulfils each, and the files that hold specifications and routes."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import Field, TypeAdapter, ValidationError

from evals.errors import ConfigurationError
from evals.models.base import Closed
from evals.models.case import Constraint, ConstraintType, Operator, RouteAlternative, RouteNode, RouteSpec


class RouteStep(NamedTuple):
    """One visit and the superstep it ran in."""

    node: RouteNode
    superstep: int


class ConstraintCounts(NamedTuple):
    """Activations (0: vacuous) and what was fulfilled of them, which for existence may be a fraction."""

    activations: int
    fulfilled: float

    @property
    def share(self) -> float:
        """`fulfilled / activations`; only asked of a constraint that was activated."""
        return self.fulfilled / self.activations


Walk = Sequence[RouteStep]
VACUOUS: Final = ConstraintCounts(0, 0.0)


def walk_of(visits: Sequence[RouteNode], supersteps: Sequence[int] | None = None) -> tuple[RouteStep, ...]:
    """Pair visits with supersteps (default: each its own); raise `ConfigurationError` where the two do not fit."""
    steps = range(len(visits)) if supersteps is None else supersteps
    if len(steps) != len(visits):
        raise ConfigurationError(f"{len(visits)} visits but {len(steps)} supersteps: give one per visit")
    if any(later < earlier for earlier, later in pairwise(steps)):
        raise ConfigurationError("supersteps go backwards: list visits in the order they ran")
    return tuple(RouteStep(node, step) for node, step in zip(visits, steps, strict=True))


def _laid_out(walk: Walk, *ranks: frozenset[RouteNode]) -> list[RouteNode]:
    """The nodes in order; inside a superstep those of the first matching rank come first, unranked ones last."""

    def rank(step: RouteStep) -> int:
        return next((place for place, nodes in enumerate(ranks) if step.node in nodes), len(ranks))

    return [step.node for step in sorted(walk, key=lambda step: (step.superstep, rank(step)))]


def _init(constraint: Constraint, walk: Walk) -> ConstraintCounts:
    return ConstraintCounts(1, float(any(s.node in constraint.a and s.superstep == walk[0].superstep for s in walk)))


def _end(constraint: Constraint, walk: Walk) -> ConstraintCounts:
    return ConstraintCounts(1, float(any(s.node in constraint.a and s.superstep == walk[-1].superstep for s in walk)))


def _existence(constraint: Constraint, walk: Walk) -> ConstraintCounts:
    return _counted(sum(step.node in constraint.a for step in walk), constraint.min, constraint.max)


def _absence(constraint: Constraint, walk: Walk) -> ConstraintCounts:
    return _counted(sum(step.node in constraint.a for step in walk), None, 0)


def _counted(count: int, least: int | None, most: int | None) -> ConstraintCounts:
    if least is not None and count < least:
        return ConstraintCounts(1, count / least)
    if most is not None and count > most:
        return ConstraintCounts(1, max(0.0, 1 - (count - most) / most) if most else 0.0)
    return ConstraintCounts(1, 1.0)


def _precedence(constraint: Constraint, walk: Walk) -> ConstraintCounts:
    return _preceded(frozenset(constraint.a), frozenset(constraint.b), walk)


def _response(constraint: Constraint, walk: Walk) -> ConstraintCounts:
    mirrored = [RouteStep(step.node, -step.superstep) for step in reversed(walk)]
    return _preceded(frozenset(constraint.b), frozenset(constraint.a), mirrored)


def _preceded(first: frozenset[RouteNode], then: frozenset[RouteNode], walk: Walk) -> ConstraintCounts:
    nodes = _laid_out(walk, first - then, first)
    hits = [any(earlier in first for earlier in nodes[:i]) for i, node in enumerate(nodes) if node in then]
    return ConstraintCounts(len(hits), float(sum(hits)))


def _chain_precedence(constraint: Constraint, walk: Walk) -> ConstraintCounts:
    return _chained(frozenset(constraint.a), frozenset(constraint.b), walk)


def _chain_response(constraint: Constraint, walk: Walk) -> ConstraintCounts:
    mirrored = [RouteStep(step.node, -step.superstep) for step in reversed(walk)]
    return _chained(frozenset(constraint.b), frozenset(constraint.a), mirrored)


def _chained(first: frozenset[RouteNode], then: frozenset[RouteNode], walk: Walk) -> ConstraintCounts:
    hits = [
        any(walk[other].node in first for other in _neighbours(walk, place))
        for place, step in enumerate(walk)
        if step.node in then
    ]
    return ConstraintCounts(len(hits), float(sum(hits)))


def _neighbours(walk: Walk, place: int) -> list[int]:
    """Places that may stand just before `place` in some order: its own superstep's others, and the superstep before."""
    own = walk[place].superstep
    before = max((step.superstep for step in walk if step.superstep < own), default=None)
    return [i for i, step in enumerate(walk) if i != place and step.superstep in (own, before)]


def _not_succession(constraint: Constraint, walk: Walk) -> ConstraintCounts:
    a, b = frozenset(constraint.a), frozenset(constraint.b)
    nodes = _laid_out(walk, b - a, a & b)
    hits = [not any(later in b for later in nodes[i + 1 :]) for i, node in enumerate(nodes) if node in a]
    return ConstraintCounts(len(hits), float(sum(hits)))


def _not_coexistence(constraint: Constraint, walk: Walk) -> ConstraintCounts:
    seen = {step.node for step in walk}
    has_a, has_b = not seen.isdisjoint(constraint.a), not seen.isdisjoint(constraint.b)
    return ConstraintCounts(1, float(not (has_a and has_b))) if has_a or has_b else VACUOUS


RULES: Final[Mapping[ConstraintType, Callable[[Constraint, Walk], ConstraintCounts]]] = {
    "init": _init,
    "end": _end,
    "existence": _existence,
    "absence": _absence,
    "precedence": _precedence,
    "response": _response,
    "chain_precedence": _chain_precedence,
    "chain_response": _chain_response,
    "not_succession": _not_succession,
    "not_coexistence": _not_coexistence,
}

_COMPARE: Final[Mapping[Operator, Callable[[float, float], bool]]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
}


def recorded(field: str, state: Mapping[str, float | None]) -> float | None:
    """What a condition finds in the recorded state where it reads `field`."""
    return state.get("confidence_before_writer" if field == "confidence" else field)


def condition_holds(constraint: Constraint, state: Mapping[str, float | None]) -> bool | None:
    """Whether the constraint applies in this recorded state; None: unknown, since a field it reads is missing."""
    if constraint.condition is None:
        return True
    answers: list[bool | None] = []
    for field, (operator, bound) in constraint.condition.items():
        value = recorded(field, state)
        answers.append(None if value is None else _COMPARE[operator](value, bound))
    # one field that is known to fail settles it, whatever else is missing
    return False if False in answers else (None if None in answers else True)


def tally(constraint: Constraint, walk: Walk, state: Mapping[str, float | None]) -> ConstraintCounts | None:
    """How the walk does on one constraint; None: unknown, since a field of its condition was not recorded."""
    applies = condition_holds(constraint, state)
    if applies is False:
        return VACUOUS
    found = RULES[constraint.type](constraint, walk)
    if applies is None:
        return None if found.activations else VACUOUS
    return found


UNARY_TYPES: Final[frozenset[ConstraintType]] = frozenset({"init", "end", "existence", "absence"})


class RecordedRoute(Closed):
    """One trace of a traces file: worker visits in order and the recorded state that conditions may read.

    `supersteps` gives each visit the number of its superstep; left out, every visit had its own. `expected` is
    tolerated, so that a file of worked examples can be scored as it is.
    """

    visits: tuple[RouteNode, ...]
    state: dict[str, float | None] = Field(default_factory=dict)
    supersteps: tuple[int, ...] | None = None
    expected: object = None


def node_caps(spec: RouteSpec, alternative: RouteAlternative) -> dict[RouteNode, int]:
    """How many visits each node may have: those of the specification, changed by the alternative."""
    return {**spec.node_caps, **alternative.node_max}


def spec_faults(spec: RouteSpec) -> tuple[str, ...]:
    """What is wrong with a specification beyond its shape, one sentence each; empty if it can be scored with."""
    return tuple(fault for alternative in spec.alternatives for fault in _alternative_faults(alternative))


def load_spec(path: Path, node_caps: Mapping[str, int], last: str | None = None) -> RouteSpec:
    """Read `{name, node_caps, alternatives}` from a JSON file; raise `ConfigurationError` if it cannot be used.

    Without a name it is called after its file; `node_caps` and `last` are the target's, for what the file leaves out. A
    worked example's `traces` are no part of it.
    """
    data = _read(path)
    if isinstance(data, dict):
        given = {key: data[key] for key in data if key != "traces"}
        caps = given.get("node_caps", {})
        data = {"name": path.stem, "last": last, **given}
        data["node_caps"] = {**node_caps, **caps} if isinstance(caps, dict) else caps
    try:
        spec = RouteSpec.model_validate(data)
    except ValidationError as error:
        raise ConfigurationError(f"{path}: not a route specification: {_first(error)}") from error
    if node_caps and (strange := sorted(_named(spec) - node_caps.keys())):
        raise ConfigurationError(f"{path}: there is no node {strange[0]!r}; name one of {', '.join(node_caps)}")
    if faults := spec_faults(spec):
        raise ConfigurationError(f"{path}: {faults[0]}")
    return spec


def _named(spec: RouteSpec) -> set[RouteNode]:
    """Every node that a specification names."""
    rules = [rule for alternative in spec.alternatives for rule in alternative.constraints]
    ways = [node for alternative in spec.alternatives for exemplar in alternative.exemplars for node in exemplar]
    return {*spec.node_caps, *ways, *(node for rule in rules for node in (*rule.a, *rule.b))}


def load_routes(path: Path, nodes: Collection[RouteNode] = ()) -> tuple[RecordedRoute, ...]:
    """Read a JSON list of `{visits, state}`; raise `ConfigurationError` if it is anything else, or if a visit is none
    of `nodes`, where these are known."""
    try:
        found = TypeAdapter(tuple[RecordedRoute, ...]).validate_python(_read(path))
    except ValidationError as error:
        raise ConfigurationError(f"{path}: not a list of {{visits, state}}: {_first(error)}") from error
    strange = sorted({node for route in found for node in route.visits if nodes and node not in nodes})
    if strange:
        raise ConfigurationError(f"{path}: not a list of visits: there is no node {strange[0]!r}")
    return found


def _alternative_faults(alternative: RouteAlternative) -> Iterator[str]:
    names = [constraint.id for constraint in alternative.constraints]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"two constraints are called {name!r}: rename one"
    if alternative.steps.target > alternative.steps.max:
        yield f"the step target {alternative.steps.target} is above the maximum {alternative.steps.max}: lower it"
    for constraint in alternative.constraints:
        if message := _constraint_fault(constraint):
            yield f"constraint {constraint.id!r} {message}"


def _constraint_fault(constraint: Constraint) -> str | None:
    bounds = [bound for bound in (constraint.min, constraint.max) if bound is not None]
    if not constraint.a:
        return "names no node in `a`: name at least one"
    if constraint.type not in UNARY_TYPES and not constraint.b:
        return f"is a {constraint.type} and needs nodes in `b`"
    if constraint.type == "existence" and not bounds:
        return "is an existence and needs `min` or `max`"
    if any(bound < 0 for bound in bounds):
        return "has a negative `min` or `max`: use 0 or more"
    if len(bounds) == 2 and bounds[0] > bounds[1]:
        return "has `min` above `max`: no route could satisfy it"
    return None


def _read(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror}): check the path") from error
    except ValueError as error:
        raise ConfigurationError(f"{path}: is not JSON: {error}") from error


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where or 'top level'}: {first['msg']}"
