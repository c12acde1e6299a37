"""Command `init`: the files with which a project with a `langgraph.json` begins."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from evals.cli.shared_options import HERE, Root
from evals.errors import EXIT_OK, ConfigurationError
from evals.project import FILE, Project

init_app = typer.Typer()

DETECTED: Final = "a drop of 14 points with 80 cases, of 27 points with 35"
"""What is found in four of five comparisons, as measured on the suite `prompts` (docs/verdict.md)."""


@init_app.command("init")
def init_command(
    graph: Annotated[
        str | None, typer.Option(help="The graph in langgraph.json; needed only if there are several.")
    ] = None,
    router: Annotated[
        list[str] | None, typer.Option(help="A node whose choice of the next node is a decision (repeatable).")
    ] = None,
    prompts: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Prompt files, as in 'prompts/*.md' (repeatable).")
    ] = None,
    root: Root = HERE,
) -> int:
    """Set up a project that has a langgraph.json: writes evals.toml, a suite and a case; overwrites nothing.

    Exit codes: 2 no usable langgraph.json, no such graph or node, or the project is set up already.
    """
    return init(root, graph, tuple(router or ()), tuple(prompts or ()))


def init(root: Path, name: str | None, routers: tuple[str, ...], prompts: tuple[str, ...]) -> int:
    """Write the files, and say what to do next.

    Raises:
        ConfigurationError: no usable `langgraph.json`, no such graph or node, or `evals.toml` is there already.
    """
    from evals.target.langgraph_json import environment_of, load_graph, read_langgraph_json
    from evals.target.patches import captured

    if (root / FILE).exists():
        raise ConfigurationError(f"{root / FILE}: this project is set up already; edit that file")
    file = read_langgraph_json(root)
    if name is None and len(file.graphs) > 1:
        raise ConfigurationError(f"{file.path}: names {', '.join(file.graphs)}; choose one with --graph")
    name = name or next(iter(file.graphs))
    with captured(), environment_of(file, replay=True):
        graph = load_graph(file, name)
        nodes, inputs, output = _nodes(graph), _members(graph, "input"), _members(graph, "output")
    for router in routers:
        if nodes and router not in nodes:
            raise ConfigurationError(f"--router {router}: graph {name!r} has no such node; it has {', '.join(nodes)}")
    project = Project(cases="evaluation", suites="evaluation/suites")
    written = {
        FILE: _settings(graph, name, routers, prompts, sorted(output)),
        f"{project.suites}/first.yaml": _SUITE,
        f"{project.cases}/cases/example.yaml": _case(nodes, inputs, sorted(output)),
    }
    for place, text in written.items():
        path = root / place
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {place}")
    print(
        "Next: put the inputs of your graph into evaluation/cases/example.yaml, then\n"
        "  evals record first    asks your endpoint for what is missing\n"
        "  evals run first       replays it and says what to do next\n"
        f"One case shows a difference. A verdict needs labels and more cases: it finds {DETECTED}."
    )
    return EXIT_OK


def _nodes(graph: Any) -> list[str]:  # noqa: ANN401 - a compiled graph, or a factory, whose nodes are not known yet
    try:
        return [str(node) for node in graph.get_graph().nodes if not str(node).startswith("__")]
    except (AttributeError, TypeError, ValueError):
        return []


def _members(graph: Any, side: str) -> dict[str, Any]:  # noqa: ANN401 - as above
    """Schemas of the members of the graph's input or output; empty where they are not known."""
    try:
        found = getattr(graph, f"get_{side}_jsonschema")()
    except Exception:  # noqa: BLE001 - a schema that pydantic cannot express
        schema = getattr(getattr(graph, "builder", None), f"{side}_schema", None)
        return {name: {} for name in getattr(schema, "__annotations__", {})}
    members = dict(found.get("properties") or {})
    needed = found.get("required") or ["messages"]
    return {name: members[name] for name in needed if name in members} or members if side == "input" else members


def _settings(
    graph: Any,  # noqa: ANN401 - as above
    name: str,
    routers: tuple[str, ...],
    prompts: tuple[str, ...],
    output: list[str],
) -> str:
    """`evals.toml`: what was asked for, and as comments what the graph suggests."""
    builder = getattr(graph, "builder", None)
    ends = [node for node, spec in getattr(builder, "nodes", {}).items() if getattr(spec, "ends", None)]
    choosing = sorted({*(node for node in getattr(builder, "branches", {}) if node != "__start__"), *ends})
    table: dict[str, Any] = {"graph": name, "routers": list(routers), "prompts": list(prompts)}
    if getattr(builder, "context_schema", None) is not None:
        table["context"] = True
    table["clock"] = "2026-01-05T09:00:00Z"
    lines = ["[target]", *(f"{key} = {json.dumps(value)}" for key, value in table.items() if value)]
    if choosing and not routers:
        lines.append(f"# routers = {json.dumps(choosing)}  # nodes that choose the next one")
    if len(output) > 1:
        lines.append(f"# output = {json.dumps(output)}  # members of the state to compare; all if none are named")
    return "\n".join(lines) + "\n"


def _example(name: str, schema: Mapping[str, Any]) -> object:
    if name == "messages":
        return [{"role": "user", "content": "hello"}]
    by_type = {"array": [], "object": {}, "integer": 1, "number": 1, "boolean": False}
    return schema.get("default", by_type.get(str(schema.get("type")), "..."))


_SUITE: Final = """\
# A variant is a `config` of the graph (LangGraph's `configurable`). The last one is judged against the first;
# one alone is compared with its baseline.
variants:
  - {name: now}
"""


def _case(nodes: list[str], inputs: Mapping[str, Any], output: list[str]) -> str:
    known = f"  # nodes: {', '.join(nodes)}" if nodes else ""
    given = {name: _example(name, schema) for name, schema in inputs.items()}
    member, node = output[0] if output else "reply", nodes[-1] if nodes else "billing"
    return f"""\
inputs: {json.dumps(given)}  # what the graph is called with
# answers: ["yes"]  # to its interrupts, in order
# expected:  # members of the output
#   {member}: {{contains: [refund]}}
# route:{known}
#   constraints: [{{id: {node}, type: existence, a: [{node}], min: 1, hard: true}}]
"""
