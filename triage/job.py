"""Driving one job from where it stands to its end, or to a question that nobody answers now."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import Command

from triage.graph import DURABILITY, TriageGraph, recursion_limit
from triage.options import Options
from triage.state import BugTriageState, HumanExchange

# The answer of the user, or None if nobody is there to answer.
Ask = Callable[[HumanExchange], str | None]
# Hears of every step: the node that acted, and what it changed.
Tell = Callable[[str, Mapping[str, Any]], None]


@dataclass(frozen=True)
class Job:
    """Where a job stands: its state, and the question it waits at (None: it is not waiting)."""

    state: BugTriageState
    waiting: HumanExchange | None
    finished: bool


def job_config(job_id: str, max_iterations: int, options: Options) -> RunnableConfig:
    """The LangGraph config of a job: its thread, a recursion limit that fits its budget, and what it runs with."""
    limit = recursion_limit(max_iterations, options.supervisor or "llm")
    return {"configurable": {"thread_id": job_id}, "recursion_limit": limit, "metadata": options.metadata()}


async def begun_with(jobs: BaseCheckpointSaver[str], job_id: str) -> Options | None:
    """What the stored job of this name runs with; None if there is no such job."""
    kept = await jobs.aget_tuple({"configurable": {"thread_id": job_id}})
    return None if kept is None else Options.from_metadata(kept.metadata)


async def stored(graph: TriageGraph, config: RunnableConfig) -> Job | None:
    """Where the job of this config was left; None if there is no such job."""
    snapshot = await graph.aget_state(config)
    if not snapshot.values:
        return None
    questions = [interrupt.value for task in snapshot.tasks for interrupt in task.interrupts]
    state = BugTriageState.model_validate(snapshot.values)
    return Job(state, questions[0] if questions else None, finished=not snapshot.next)


async def drive(
    graph: TriageGraph, config: RunnableConfig, new: BugTriageState | None, ask: Ask, tell: Tell
) -> Job | None:
    """Run the job until it ends or `ask` has no answer; `new` starts it, None goes on with the stored one.

    The graph needs a checkpointer; every step is stored before the next begins. None: there is no such job.
    """
    if new is not None:
        await _step(graph, config, new, tell)
    while (job := await stored(graph, config)) is not None and not job.finished:
        answer = None if job.waiting is None else ask(job.waiting)
        if job.waiting is not None and answer is None:
            break
        await _step(graph, config, None if answer is None else Command(resume=answer), tell)
    return job


async def _step(
    graph: TriageGraph, config: RunnableConfig, given: BugTriageState | Command[None] | None, tell: Tell
) -> None:
    async for update in graph.astream(given, config, stream_mode="updates", durability=DURABILITY):
        for node, changes in update.items():
            if not node.startswith("__") and changes is not None:  # a node that only waits is no step to tell of
                tell(node, changes)
