"""What a compiled graph and its code tell of the settings of a target: inputs, output, context, routers and clock."""

import asyncio
import inspect
import re
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_type_hints

from langgraph.pregel import Pregel
from pydantic import TypeAdapter

from evals.target.drive import open_graph, takes_one_value

USES: Final = {
    "clock": re.compile(r"\b(?:(?:date|datetime|pendulum|Timestamp)\.(?:now|utcnow|today)|time\.\w*time(?:_ns)?)\("),
    "api.tavily.com": re.compile(r"\b(?:from|import) .*tavily", re.IGNORECASE),
    "api.exa.ai": re.compile(r"\b(?:from|import) exa_py\b"),
    "api.firecrawl.dev": re.compile(r"\b(?:from|import) .*firecrawl", re.IGNORECASE),
    "en.wikipedia.org": re.compile(r"\b(?:from|import) .*wikipedia", re.IGNORECASE),
}
"""The clock, and hosts of services that agents search with -> what code that uses them looks like."""
_EMPTY: Final[Mapping[str, Any]] = {"integer": 0, "number": 0, "boolean": False, "array": [], "object": {}}
_MESSAGE: Final = [{"role": "user", "content": "..."}]


@dataclass(frozen=True)
class GraphGuess:
    """`inputs` are an example of each input that the graph needs (its messages or all, if none is required); `context`
    holds the members of LangGraph's context with their defaults; `routers` are nodes with several next nodes."""

    name: str = ""
    nodes: tuple[str, ...] = ()
    routers: tuple[str, ...] = ()
    inputs: Mapping[str, Any] | None = None
    output: tuple[str, ...] = ()
    context: Mapping[str, Any] | None = None


def guess_settings(target: Any) -> GraphGuess:  # noqa: ANN401 - a compiled graph, a StateGraph or a factory
    """Settings of a target; empty ones for a factory that makes no graph without a config of its user's."""
    try:
        return asyncio.run(_guessed(target))
    except (Exception, SystemExit):  # noqa: BLE001 - a factory of a stranger's; a run tells what is wrong with it
        return GraphGuess()


async def _guessed(target: Any) -> GraphGuess:  # noqa: ANN401
    async with AsyncExitStack() as stack:
        graph: Any = await open_graph(target, {"configurable": {}}, stack)
        inner = [each for _, each in graph.get_subgraphs(recurse=True) if isinstance(each, Pregel)]
        needed, inputs = _schema(graph, "input")
        if takes_one_value(graph):
            inputs = {"input": graph.get_input_jsonschema()}
        inputs = inputs or {key: {} for key in _keys_read(graph)}
        needed = needed or ({"messages"} & set(inputs)) or set(inputs)
        needed = {name for name in needed if {"type": "null"} not in inputs[name].get("anyOf", ())} or needed
        context = _schema(graph, "context")[1]
        return GraphGuess(
            name=str(graph.name),
            nodes=tuple(dict.fromkeys(node for each in (graph, *inner) for node in _nodes(each))),
            routers=tuple(dict.fromkeys(node for each in (graph, *inner) for node in _routers(each))),
            inputs={name: _example(name, kind) for name, kind in inputs.items() if name in needed},
            output=tuple(_schema(graph, "output")[1]),
            context={name: kind.get("default") for name, kind in context.items()} or None,
        )


def _nodes(graph: Pregel[Any, Any, Any, Any]) -> list[str]:
    return [str(node) for node in graph.get_graph().nodes if not str(node).startswith("__")]


def _routers(graph: Pregel[Any, Any, Any, Any]) -> list[str]:
    """Nodes of one graph with several next nodes; a named agent goes by its name, since all call theirs `model`."""
    nexts: dict[str, set[str]] = {}
    for edge in graph.get_graph().edges:
        if edge.conditional and not str(edge.source).startswith("__"):
            nexts.setdefault(str(edge.source), set()).add(str(edge.target))
    agent = ((graph.config or {}).get("metadata") or {}).get("lc_agent_name")
    return [agent if agent and node == "model" else node for node, found in nexts.items() if len(found) > 1]


def _keys_read(graph: Any) -> list[str]:  # noqa: ANN401
    """Keys of its input that the code of an `@entrypoint` reads, where the input is a dict of any keys."""
    code: Any = getattr(next(iter(graph.nodes.values())).bound, "func", None)
    try:
        name, source = next(iter(inspect.signature(code).parameters)), inspect.getsource(code)
    except (TypeError, ValueError, StopIteration, OSError):  # no function of Python, or its source is not here
        return []
    return re.findall(rf"""\b{name}(?:\[|\.get\()["'](\w+)["']""", source)


def _schema(graph: Any, part: str) -> tuple[set[str], dict[str, Any]]:  # noqa: ANN401
    """Names that are required, and JSON schemas by name. Pydantic refuses some types, such as
    `typing.TypedDict` before Python 3.12; their names are known still."""
    try:
        schema = getattr(graph, f"get_{part}_jsonschema")() or {}
    except Exception:  # noqa: BLE001 - of LangGraph, pydantic or the user's types
        kind = getattr(getattr(graph, "builder", None), f"{part}_schema", None)
        return set(), {name: _schema_of(hint) for name, hint in (get_type_hints(kind) if kind else {}).items()}
    defined = schema.get("$defs", {})
    kinds = {name: _resolved(kind, defined) for name, kind in schema.get("properties", {}).items()}
    return set(schema.get("required", ())), kinds


def _schema_of(hint: Any) -> dict[str, Any]:  # noqa: ANN401 - a type
    try:
        return TypeAdapter(hint).json_schema()
    except Exception:  # noqa: BLE001 - as above
        return {}


def _resolved(kind: Mapping[str, Any], defined: Mapping[str, Any]) -> dict[str, Any]:
    found = defined.get(str(kind.get("$ref", "")).rpartition("/")[2], {})
    return {**found, **kind}


def _example(name: str, kind: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
    if name == "messages":
        return _MESSAGE
    if kind.get("default") is not None:
        return kind["default"]
    if kind.get("enum"):
        return kind["enum"][0]
    if kind.get("type") == "object" and kind.get("properties"):
        return {each: _example(each, inner) for each, inner in kind["properties"].items()}
    return _EMPTY.get(kind.get("type", ""), "...")


def code_uses(files: Iterable[Path]) -> dict[str, tuple[Path, int]]:
    """Members of `USES` -> file and line of the first place in Python code."""
    found: dict[str, tuple[Path, int]] = {}
    for path in files:
        if path.suffix == ".py":
            for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
                found |= {each: (path, number) for each in USES if each not in found and USES[each].search(line)}
    return found
