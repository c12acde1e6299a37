"""Command `init`: the files with which a project with a `langgraph.json` begins."""

import json
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from evals.cli.global_options import given
from evals.errors import EXIT_OK, ConfigurationError
from evals.project import FILE, Project

init_app = typer.Typer()

DETECTED: Final = "a drop of 14 points with 80 cases, of 27 points with 35"
"""What is found in four of five comparisons, as measured on the suite `prompts` (docs/verdict.md)."""


@init_app.command("init")
def init_command(
    context: typer.Context,
    graph: Annotated[
        str | None, typer.Option(help="The graph in langgraph.json; needed only if there are several.")
    ] = None,
    router: Annotated[
        list[str] | None, typer.Option(help="A node whose choice of the next node is a decision (repeatable).")
    ] = None,
    prompts: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Prompt files, as in 'prompts/*.md' (repeatable).")
    ] = None,
) -> int:
    """Set up a project that has a langgraph.json: writes evals.toml, a suite and a case; overwrites nothing.

    Exit codes: 2 no usable langgraph.json, no such graph or node, or the project is set up already.
    """
    return init(given(context).root, graph, tuple(router or ()), tuple(prompts or ()))


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
        nodes = _nodes(load_graph(file, name))
    for router in routers:
        if nodes and router not in nodes:
            raise ConfigurationError(f"--router {router}: graph {name!r} has no such node; it has {', '.join(nodes)}")
    project = Project(cases="evaluation", suites="evaluation/suites")
    table = {"graph": name, "routers": list(routers), "prompts": list(prompts)}
    lines = ["[target]", *(f"{key} = {json.dumps(value)}" for key, value in table.items() if value)]
    written = {
        FILE: "\n".join(lines) + "\n",
        f"{project.suites}/first.yaml": _SUITE,
        f"{project.cases}/cases/example.yaml": _case(nodes),
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


_SUITE: Final = """\
# A variant is a `config` of the graph (LangGraph's `configurable`). The last one is judged against the first;
# one alone is compared with its baseline.
variants:
  - {name: now}
"""


def _case(nodes: list[str]) -> str:
    known = f"  # nodes: {', '.join(nodes)}" if nodes else ""
    return f"""\
inputs: {{}}  # what the graph is called with
# answers: ["yes"]  # to its interrupts, in order
# expected:  # members of the output
#   reply: {{contains: [refund]}}
# route:{known}
#   constraints: [{{id: billing, type: existence, a: [billing], min: 1, hard: true}}]
"""
