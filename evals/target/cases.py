"""Cases of a target: one YAML file each, below the folder that `evals.toml` names; labels that nothing answers to."""

import codecs
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, JsonValue, field_validator

from evals.errors import DatasetError, nearest_name
from evals.models.base import Closed
from evals.models.case import Case, Constraint, DecisionPoint, Question, RouteAlternative, RouteSpec, Split, Steps
from evals.models.suite import Variant
from evals.models.trace import Trace
from evals.routes.constraints import spec_faults
from evals.safe_yaml import line_of, read_model
from evals.target.expected import Expected, path_of
from evals.target.expected import Path as FieldPath
from evals.target.variant_checkout import VariantFiles

NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]*")
LONGEST: Final = 1_000
"""Steps of a route that has no limit of its own."""
FOLDER: Final = "points"
"""Beside the cases."""


class FrozenPoint(Closed):
    """One state: the router, its node and the nodes around it, what the reference chose there, and the state as JSON.
    `accept` grades what is acceptable from 0 to 1, such as `{billing: 1}`; empty: not labelled."""

    id: str
    router: str
    node: str
    path: tuple[str, ...] = ()
    chosen: str
    accept: dict[str, Annotated[float, Field(gt=0, le=1)]] = Field(default_factory=dict)
    why: str = ""
    state: dict[str, JsonValue]

    @property
    def labelled(self) -> DecisionPoint | None:
        """As it is scored."""
        return DecisionPoint(id=self.id, state=self.state, accept=self.accept, why=self.why) if self.accept else None


class PointsFile(Closed):
    """The file of a case."""

    points: tuple[FrozenPoint, ...]


def points_file(folder: Path, case_id: str) -> Path:
    """Where the points of a case are."""
    return folder / FOLDER / f"{case_id}.yaml"


def load_points(file: Path) -> tuple[FrozenPoint, ...]:
    """The points in a file; none where there is none. Raises DatasetError (`path:line: …`)."""
    return read_model(file, PointsFile).points if file.is_file() else ()


class TargetRoute(Closed):
    """Rules for the names of steps: nodes and tools. `max` is the largest number of steps, `target` the one that costs
    nothing."""

    constraints: tuple[Constraint, ...] = ()
    target: Annotated[int, Field(ge=1)] = LONGEST
    max: Annotated[int, Field(ge=1)] = LONGEST
    node_max: dict[str, int] = Field(default_factory=dict)
    exemplars: tuple[tuple[str, ...], ...] = ()


class TargetLabels(Closed):
    """The file of a case. Only `inputs` is needed: without labels a run shows what happened, and scores nothing."""

    id: str = ""
    inputs: dict[str, JsonValue]
    title: str = ""
    expected: dict[str, Expected] = Field(default_factory=dict)
    """Path in the output, such as `items[0].sku` -> what is there."""
    tools: dict[str, Expected] = Field(default_factory=dict)
    """Name of a tool, or path in its arguments such as `refund.amount` -> what it is called with."""
    route: TargetRoute | None = None
    answers: tuple[JsonValue, ...] | dict[str, JsonValue] = ()
    split: Split = "gate"
    slice: str = "all"
    pair_id: Annotated[str | None, Field(alias="cluster")] = None
    tags: tuple[str, ...] = ()
    must_pass: bool = False
    canary: Annotated[str | None, Field(min_length=1)] = None
    """Text that must not reach the output or a tool, as where the inputs try to inject it."""
    frozen: tuple[FrozenPoint, ...] = ()
    """States in which routers are asked alone: those of the file in `points/`."""

    @field_validator("route")
    @classmethod
    def _can_fail(cls, route: TargetRoute | None) -> TargetRoute | None:
        if route and not route.constraints and route.max == LONGEST:
            raise ValueError("checks nothing; write constraints, or max")
        for each in route.constraints if route else ():
            needed = "a" if each.type in ("init", "end", "existence", "absence") else "ab"
            missing = [f"name steps in `{side}`" for side in needed if not getattr(each, side)]
            missing += ["write min or max"] if each.type == "existence" and not each.min and each.max is None else []
            if missing:
                raise ValueError(f"constraint {each.id} checks nothing; {missing[0]}")
        return route

    @property
    def kind(self) -> str:
        """The slice that the case is in."""
        return self.slice

    @property
    def question(self) -> Question:
        """A target may always ask: the answers are those of the case."""
        return Question(policy="allowed")

    @property
    def decision_points(self) -> tuple[DecisionPoint, ...]:
        """Those that are labelled."""
        return tuple(point.labelled for point in self.frozen if point.labelled is not None)

    @property
    def unlabelled(self) -> frozenset[str]:
        """What the file does not say, so that it is not scored."""
        names = ("route", "expected", "tools", "canary", "decision_points", "frozen")
        return frozenset(name for name in names if not getattr(self, name))

    @property
    def exemplars(self) -> tuple[tuple[str, ...], ...]:
        """Routes that pass."""
        return self.route.exemplars if self.route else ()

    def at(self, ids: frozenset[str]) -> "TargetLabels":
        """The same with only these decision points."""
        return self.model_copy(update={"frozen": tuple(point for point in self.frozen if point.id in ids)})

    def shown(self) -> dict[str, Any]:
        """The checks of output and tool calls."""
        return {
            label: {path: each.written for path, each in checks.items()}
            for label, checks in (("expected", self.expected), ("tools", self.tools))
            if checks
        }


def case_ids(datasets: Path) -> list[str]:
    """The names of the cases in `datasets`, sorted. Raises DatasetError for a YAML file that would not be read."""
    folder = datasets / "cases"
    for path in sorted(path for path in folder.rglob("*") if path.suffix.lower() in (".yaml", ".yml")):
        if path != folder / f"{path.stem}.yaml":
            raise DatasetError(f"{path}: is no case; call it {folder.name}/{path.stem}.yaml, or move it elsewhere")
    return sorted(path.stem for path in folder.glob("*.yaml"))


def case_file(datasets: Path, case_id: str) -> Path:
    """The file of a case."""
    return datasets / "cases" / f"{case_id}.yaml"


def load_cases(datasets: Path) -> dict[str, Case]:
    """Every case in `datasets`, by id. Raises DatasetError (`path:line: …`)."""
    found = {name: load_case(datasets, name) for name in case_ids(datasets)}
    if not found:
        raise DatasetError(f"{datasets / 'cases'}: holds no cases; write one as CASE.yaml with `inputs:`")
    return found


def load_case(datasets: Path, case_id: str) -> Case:
    """One case. Raises DatasetError (`path:line: …`)."""
    path = case_file(datasets, case_id)
    if not NAME.fullmatch(case_id):
        raise DatasetError(f"{path}:1: {case_id!r} is no name of a case; use small letters, digits and -")
    labels = read_model(path, TargetLabels)
    if labels.id not in ("", case_id):
        raise DatasetError(f"{path}:{line_of(path, 'id')}: id is {labels.id!r}, the file {case_id!r}; leave the id out")
    points = points_file(datasets, case_id)
    labels = labels.model_copy(update={"id": case_id, "frozen": load_points(points)})
    for field in ("expected", "tools"):
        for name, expected in getattr(labels, field).items():
            try:
                path_of(name)
                re.compile(expected.regex or "")
            except (ValueError, re.error) as error:
                told = f"regex of {name!r} is none ({error}); mend it" if isinstance(error, re.error) else error
                raise DatasetError(f"{path}:{line_of(path, field, name)}: {field}: {told}") from error
    spec = _spec(labels)
    if faults := spec_faults(spec):
        raise DatasetError(f"{path}:{line_of(path, 'route', 'constraints')}: route: {faults[0]}")
    return Case(
        labels=labels,
        title=labels.title or case_id,
        body=_text(labels.inputs),
        route_spec=spec,
        digest=hashlib.sha256(_read(path) + (_read(points) if labels.frozen else b"")).hexdigest(),
        inputs=labels.inputs,
    )


def _read(path: Path) -> bytes:
    """The content, whatever the line ends and the byte order mark of a checkout are."""
    return path.read_bytes().removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n")


def _text(inputs: dict[str, JsonValue]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in inputs.items())


def _spec(labels: TargetLabels) -> RouteSpec:
    route = labels.route or TargetRoute()
    steps = Steps(target=min(route.target, route.max), max=route.max, hard_max=max(route.max, LONGEST))
    way = RouteAlternative(
        constraints=route.constraints, steps=steps, node_max=route.node_max, exemplars=route.exemplars
    )
    return RouteSpec(name=labels.id, node_caps={}, alternatives=(way,))


def label_errors(cases: Sequence[Case], traces: Sequence[Trace], routers: Sequence[str] = ()) -> tuple[str, ...]:
    """One sentence per label or router that names nothing, and per condition of a route; empty before a recording.

    A name is known if the graph has it, or if any trial gave it: a field that only some runs have is no error.
    """
    named = [trace for trace in traces if trace.names is not None]
    if not named:
        return ()
    outputs = [trace.output for trace in named]
    calls = [{visit.node: visit.arguments} for trace in named for visit in trace.visits if visit.arguments is not None]
    members = {name for trace in named if trace.names for name in (*trace.names.members, *trace.output)}
    steps = {name for trace in named if trace.names for name in (*trace.names.steps, *trace.walked)}
    agents = {each.agent for trace in named for each in trace.calls} | {each.agent for t in named for each in t.misses}
    unknown = [name for name in routers if name not in steps | agents]
    found = [_told("evals.toml", "routers", name, "the graph has no such step", name, steps) for name in unknown]
    for case in cases:
        for path in case.labels.expected:
            found += _unknown(case.id, "expected", path, members, outputs, "the output has no such field")
        for path in case.labels.tools:
            found += _unknown(case.id, "tools", path, steps, calls, "the graph has no such tool", "no such argument")
        for name in sorted(_steps_of(case.labels.route) - steps):
            found.append(_told(case.id, "route", name, "the graph has no such step", name, steps))
        found += [  # no step of a graph states what conditions read
            f"{case.id}: route {rule.id!r}: no run records {field!r}, which its condition reads; leave `if` out"
            for rule in (case.labels.route.constraints if case.labels.route else ())
            for field in rule.condition or ()
        ]
        accepted = {name for point in case.labels.frozen for choice in point.accept for name in choice.split()}
        for name in sorted(accepted - steps - {"end"}):
            found.append(_told(case.id, "accept", name, "the graph has no such step", name, steps))
    return tuple(found)


def unread_prompts(variants: Sequence[Variant], traces: Sequence[Trace], root: Path) -> Iterator[str]:
    """A sentence per variant that has other prompt files than one before it, and the same requests in every case."""
    asked: dict[str, dict[object, object]] = {}
    for each in traces:
        exact = each.provenance.label == "exact"
        asked.setdefault(each.variant, {})[each.case_id, each.sample] = each.asked if exact else each  # equal to none
    compared = [variant for variant in variants if variant.name in asked]
    for one, other in combinations(compared, 2):
        if one.config == other.config and asked[one.name] == asked[other.name]:
            names = VariantFiles.of(one, root).swapped(VariantFiles.of(other, root))
            if names:
                yield (
                    f"{other.name}: every request is the one of {one.name}, although its prompts are others: "
                    f"the target reads no other {', '.join(names)}; see that the graph opens the file, or leave it out"
                )


def _unknown(
    case: str, label: str, text: str, heads: Iterable[str], values: Sequence[Any], why: str, why_below: str = ""
) -> Iterator[str]:
    """A sentence where a step of the path is none of the names beside it."""
    path = path_of(text)
    if str(path[0]) not in heads:
        if heads:
            yield _told(case, label, text, why, str(path[0]), heads)
        return
    for place in range(1, len(path)):
        values = [member for value in values for member in _members(value, path[place - 1])]
        beside = {str(name) for value in values if isinstance(value, Mapping) for name in value}
        if beside and isinstance(path[place], str) and path[place] not in beside:
            before, asked = _words(path[:place]), _words(path[: place + 1])
            yield _told(case, label, text, why_below or why, asked, {f"{before}.{name}" for name in beside})
            return


def _members(value: Any, step: str | int) -> Iterator[Any]:  # noqa: ANN401 - JSON
    """The value under a name; every item of a list, whichever was asked for."""
    if isinstance(step, int):
        yield from value if isinstance(value, list) else ()
    elif isinstance(value, Mapping) and step in value:
        yield value[step]


def _told(case: str, label: str, text: str, why: str, asked: str, known: Iterable[str]) -> str:
    hint = nearest_name(asked, known) or f"; there are {', '.join(sorted(known)) or 'none'}"
    return f"{case}: {label} {text!r}: {why}{hint}"


def _words(path: FieldPath) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def _steps_of(route: TargetRoute | None) -> set[str]:
    """The names that a route label uses."""
    if route is None:
        return set()
    named = {name for each in route.constraints for name in (*each.a, *each.b)}
    return named | {*route.node_max} | {name for exemplar in route.exemplars for name in exemplar}
