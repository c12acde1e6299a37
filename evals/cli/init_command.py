"""Command `init`: the files with which a project with a `langgraph.json` begins."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from evals import atomic_files
from evals.cli.options import given
from evals.errors import EXIT_OK, ConfigurationError
from evals.project import FILE, Project

if TYPE_CHECKING:
    from evals.target.graph_guesses import GraphGuess

init_app = typer.Typer()

DETECTED: Final = "a drop of 14 points with 80 cases, of 27 points with 35"
"""What is found in four of five comparisons, as measured on the suite `prompts` (docs/verdict.md)."""
MOMENT: Final = "2026-01-05T09:00:00Z"


@init_app.command("init")
def init_command(
    context: typer.Context,
    graph: Annotated[str | None, typer.Option(help="The graph, if there are several.")] = None,
    router: Annotated[list[str] | None, typer.Option(help="A node that chooses the next node (repeatable).")] = None,
    prompts: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Files, as in prompts/*.md (repeatable).")
    ] = None,
    pass_through: Annotated[
        list[str] | None, typer.Option(metavar="HOST", help="A host that replays call live (repeatable).")
    ] = None,
) -> int:
    """Set up a project that has a langgraph.json: writes evals.toml, a suite and a case; overwrites nothing.

    Exit codes: 2 no usable langgraph.json, no such graph or node, or the project is set up already.
    """
    from evals.target.graph_guesses import guess_settings
    from evals.target.http_capture import Hosts
    from evals.target.http_hooks import stay_captured
    from evals.target.langgraph_json import environment_of, load_graph, read_langgraph_json

    root, name, routers, passed = given(context).root, graph, tuple(router or ()), tuple(pass_through or ())
    if (root / FILE).exists():
        raise ConfigurationError(f"{root / FILE}: this project is set up already; edit that file")
    file = read_langgraph_json(root)
    if name is None and len(file.graphs) > 1:
        raise ConfigurationError(f"{file.path}: names {', '.join(file.graphs)}; choose one with --graph")
    name = name or next(iter(file.graphs))
    stay_captured()
    with environment_of(file, replay=True):
        guess = guess_settings(load_graph(file, name, Hosts(frozenset(passed))))
    nodes = guess.nodes
    for wanted in routers:
        if nodes and wanted not in {*nodes, *guess.routers, guess.name}:  # an agent is a router by its name
            raise ConfigurationError(f"--router {wanted}: graph {name!r} has no such node; it has {', '.join(nodes)}")
    project = Project(cases="evaluation", suites="evaluation/suites")
    routers = routers or guess.routers
    told = {"graph": name, "routers": routers, "prompts": tuple(prompts or ()), "pass_through": passed}
    lines = _settings(root, told, guess)
    written = {
        FILE: "\n".join(lines) + "\n",
        f"{project.suites}/first.yaml": _suite(guess),
        f"{project.cases}/cases/example.yaml": _case(guess),
    }
    for place, text in written.items():
        path = root / place
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_files.replace(path, text)
        print(f"wrote {place}")
    for note in _notes(root, routers, guess):
        print(note)
    print(
        "Next: put the inputs of your graph into evaluation/cases/example.yaml, then\n"
        "  evals record first    asks your endpoint for what is missing\n"
        "  evals run first       replays it and says what to do next\n"
        "One case shows a difference. A verdict needs labels and more cases:\n"
        f"it finds {DETECTED}."
    )
    return EXIT_OK


def _settings(root: Path, told: Mapping[str, Sequence[str]], guess: "GraphGuess") -> list[str]:
    """The lines of `evals.toml`."""
    from evals.target.graph_guesses import code_uses
    from evals.target.target_settings import shown_path, target_files

    lines = ["[target]", *(f"{key} = {json.dumps(value)}" for key, value in told.items() if value)]
    used = {name: f"{shown_path(path, root)}:{line}" for name, (path, line) in code_uses(target_files(root)).items()}
    if clock := used.pop("clock", ""):
        lines.append(f'clock = "{MOMENT}"  # {clock} reads the time')
    if used:
        lines.append(f"record = {json.dumps([*used])}  # {next(iter(used.values()))} imports a client")
    if guess.context is not None:
        lines.append("context = true  # a variant's `config` is LangGraph's `context` too")
    if guess.output:
        lines.append(f"# output = {json.dumps(list(guess.output))}  # members of the final state; without it: all")
    return lines


def _notes(root: Path, routers: tuple[str, ...], guess: "GraphGuess") -> list[str]:
    """What a user should know of the project; a line each."""
    from evals.shared.git_command import GitError, git

    notes = []
    if not guess.nodes:
        notes.append("The graph is made by a factory that needs a config: nodes, inputs and routers are not known.")
    elif not routers:
        notes.append("No node chooses between next nodes: there are no decisions, only steps and output.")
    else:
        notes.append(f"Routers: {', '.join(routers)}. Edit evals.toml if another node decides.")
    try:
        git(root, "rev-parse", "--git-dir")
    except GitError:
        notes.append("No git repository here: `git:REV` and the history of runs need one (git init).")
    return notes


def _suite(guess: "GraphGuess") -> str:
    known = f"# config of this graph: {', '.join(guess.context)}\n" if guess.context else ""
    return f"""\
# A variant is a `config` of the graph (LangGraph's `configurable`). The last one is judged against the first;
# one alone is compared with its baseline.
{known}variants:
  - {{name: current}}
"""


def _case(guess: "GraphGuess") -> str:
    known = f"  # nodes: {', '.join(guess.nodes)}" if guess.nodes else ""
    router = next(iter((*guess.routers, *guess.nodes)), "billing")
    member = next(iter(guess.output), "reply").replace("messages", "messages[-1].content")
    inputs = json.dumps(guess.inputs or {}, ensure_ascii=False, default=str)
    told = "what the graph is called with" if guess.inputs else "fill in: what the graph is called with, {key: value}"
    return f"""\
inputs: {inputs}  # {told}
# answers: ["yes"]  # to its interrupts, in order
# expected:  # members of the output
#   {member}: {{contains: [refund]}}
# route:{known}
#   constraints: [{{id: {router}, type: existence, a: [{router}], min: 1, hard: true}}]
"""
