"""What a run cannot judge by: labels of no field, tool or step of the graph, prompts that the target never reads."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from evals.errors import nearest_name
from evals.models.case import Case
from evals.models.suite import Variant
from evals.models.trace import Trace
from evals.target.cases import TargetRoute
from evals.target.expected import Path as FieldPath
from evals.target.expected import path_of
from evals.target.variant_files import VariantFiles


def label_errors(cases: Sequence[Case], traces: Sequence[Trace]) -> tuple[str, ...]:
    """One sentence per label, with the nearest name; empty where nothing is recorded yet.

    A name is known if the graph has it, or if any trial gave it: a field that only some runs have is no error.
    """
    named = [trace for trace in traces if trace.names is not None]
    if not named:
        return ()
    outputs = [trace.output for trace in named]
    calls = [{visit.node: visit.arguments} for trace in named for visit in trace.visits if visit.arguments is not None]
    members = {name for trace in named if trace.names for name in (*trace.names.members, *trace.output)}
    steps = {name for trace in named if trace.names for name in (*trace.names.steps, *trace.walked)}
    found: list[str] = []
    for case in cases:
        for path in case.labels.expected:
            found += _unknown(case.id, "expected", path, members, outputs, "the output has no such field")
        for path in case.labels.tools:
            found += _unknown(case.id, "tools", path, steps, calls, "the graph has no such tool", "no such argument")
        for name in sorted(_steps_of(case.labels.route) - steps):
            found.append(_told(case.id, "route", name, "the graph has no such step", name, steps))
        accepted = {name for point in case.labels.frozen for choice in point.accept for name in choice.split()}
        for name in sorted(accepted - steps - {"end"}):
            found.append(_told(case.id, "accept", name, "the graph has no such step", name, steps))
    return tuple(found)


def unknown_routers(routers: Iterable[str], traces: Sequence[Trace]) -> Iterator[str]:
    """A sentence per router that is no step of the graph, and no agent that asked a model."""
    named = [(trace, trace.names) for trace in traces if trace.names is not None]
    known = {name for trace, names in named for name in (*names.steps, *trace.walked)}
    known |= {call.agent for trace, _ in named for call in trace.calls}
    known |= {miss.agent for trace, _ in named for miss in trace.misses}
    for name in routers:
        if named and name not in known:
            yield _told("evals.toml", "routers", name, "the graph has no such step", name, known)


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
