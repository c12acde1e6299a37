"""Route specifications and recorded routes as files."""

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

from pydantic import Field, TypeAdapter, ValidationError

from evals.errors import ConfigurationError
from evals.models.base import Closed
from evals.models.route_spec import Constraint, ConstraintType, RouteAlternative, RouteNode, RouteSpec

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
