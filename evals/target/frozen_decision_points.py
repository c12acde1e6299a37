"""Decision points of a target: states in which a router of the reference decided, kept in a file for each case.

`evals points SUITE` writes them. In every trial the router is then asked again in each of them, alone: the graph is
compiled anew with one edge, from its start to the router.
"""

import asyncio
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from evals import atomic_files
from evals.errors import ConfigurationError, EvalsError
from evals.target.cases import FrozenPoint, load_points, points_file

if TYPE_CHECKING:
    from evals.models.case import Case
    from evals.models.suite import Variant
    from evals.target.drive import TargetRun
    from evals.workspace import Workspace


@dataclass(frozen=True)
class FrozenCase:
    """What became of one case: how many points it has, and a sentence for each decision that cannot be asked alone."""

    case_id: str
    points: int
    refused: tuple[str, ...]


@dataclass(frozen=True)
class FreezeTask:
    """One case under the reference, for a worker; see `evals.runner.worker_pool.WorkerTask`."""

    case: "Case"
    variant: "Variant"
    workspace: "Workspace"
    patience: float = 300.0
    overdue: str = "it does not end"
    process: str = "freeze"

    def parts(self) -> "list[FreezeTask]":
        """It cannot be divided."""
        return [self]


def freeze(task: FreezeTask) -> FrozenCase:
    """Replay a case and write the states in which its routers decided. A point is kept only if its router, asked alone,
    sends the recorded request and chooses the same. Labels of a state that is still there stay."""
    try:
        return asyncio.run(_freeze(task.case, task.variant, task.workspace))
    except EvalsError as error:
        return lost(task, str(error))


def lost(task: FreezeTask, why: str) -> FrozenCase:
    """A case that was not frozen."""
    return FrozenCase(task.case.id, 0, (f"{task.case.id}: {why}",))


async def _freeze(case: "Case", variant: "Variant", workspace: "Workspace") -> FrozenCase:
    from evals.cassettes.cassette_files import load  # noqa: PLC0415
    from evals.cassettes.player import Tape  # noqa: PLC0415 - LangGraph loads with the next
    from evals.target.target_trials import target_ready  # noqa: PLC0415
    from evals.target.variant_checkout import VariantFiles  # noqa: PLC0415

    files = VariantFiles.of(variant, workspace.root).checked_out()
    tape = Tape(load(workspace.cassette(case.id)))
    kept, refused = [], []
    with target_ready(files, replay=True) as target:
        run = await target.run(case, variant, files, target.trial(tape), keeps_states=True)
        if run.ended != "finished":
            raise ConfigurationError(f"{variant.name} does not replay ({run.error}); record the suite first")
        for point in _points_of(run):
            again = await target.run(case, variant, files, target.trial(Tape(tape.cassette)), point)
            if why := difference(again, point):
                refused.append(f"{case.id}: {point.id} is left out: {why}")
            else:
                kept.append(point)
    file = points_file(workspace.datasets, case.id)
    known = {point.id: point for point in load_points(file)}
    told = [_with_labels(point, known.get(point.id)).model_dump(mode="json") for point in kept]
    if told or file.is_file():
        text = yaml.safe_dump({"points": told}, sort_keys=False, allow_unicode=True, width=120)
        file.parent.mkdir(parents=True, exist_ok=True)
        atomic_files.replace(file, text)
    return FrozenCase(case.id, len(kept), tuple(refused))


def difference(again: "TargetRun", point: FrozenPoint) -> str | None:
    """Why the router that was asked alone is not the router of the trial."""
    if again.ended == "missed":
        return "asked alone, it sends another request than in the trial: its state holds what JSON does not"
    if again.ended != "finished":
        return again.error
    now = chosen_by(again, point)
    return f"asked alone, it chooses {now} and not {point.chosen}" if now != point.chosen else None


def _with_labels(point: FrozenPoint, known: FrozenPoint | None) -> FrozenPoint:
    is_same = known is not None and known.state == point.state
    return point.model_copy(update={"accept": known.accept, "why": known.why}) if known and is_same else point


def _points_of(run: "TargetRun") -> Iterator[FrozenPoint]:
    counts: dict[str, int] = {}
    for made in run.decisions:
        counts[made.router] = number = counts.get(made.router, 0) + 1
        yield FrozenPoint(
            id=f"{made.router}-{number}",
            router=made.router,
            node=made.node,
            path=made.path,
            chosen=choice(made.chosen),
            state=made.state if isinstance(made.state, dict) else {},
        )


def choice(chosen: Sequence[str]) -> str:
    """What a router chose, as labels name it."""
    return " ".join("end" if name == "__end__" else name for name in chosen)


def chosen_by(run: "TargetRun", point: FrozenPoint) -> str | None:
    """What the router chose when it was asked alone; None if it did not come to an end."""
    made = [each for each in run.decisions if each.node == point.node and not each.path]
    return choice(made[-1].chosen) if made else None


def router_alone(graph: Any, path: Sequence[str], node: str) -> Any:  # noqa: ANN401 - compiled graphs
    """The graph that holds `node`, compiled anew so that a state given to it reaches that node first.

    Raises:
        ConfigurationError: it is in no subgraph of the target's graph, or that has no nodes.
    """
    from langgraph.checkpoint.memory import InMemorySaver  # noqa: PLC0415 - as above
    from langgraph.graph import START  # noqa: PLC0415

    for name in path:
        inner = dict(graph.get_subgraphs()).get(name)
        if inner is None:
            raise ConfigurationError(
                f"runs inside {name}, which is no subgraph of the graph, and cannot be asked alone"
            )
        graph = inner
    builder = getattr(graph, "builder", None)
    if builder is None or node not in builder.nodes:
        raise ConfigurationError(f"{node} is no node of a StateGraph, and cannot be asked alone")
    alone = copy(builder)
    alone.edges, alone.waiting_edges = {(START, node)}, set()
    alone.branches = type(builder.branches)(dict, {node: builder.branches.get(node, {})})
    alone.input_schema = builder.state_schema
    made = alone.compile(checkpointer=InMemorySaver(), store=graph.store)
    return made.with_config(graph.config) if graph.config else made
