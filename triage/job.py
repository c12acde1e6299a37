"""Driving one job from where it stands to its end, or to a question that nobody answers now."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import Command

from triage.errors import InputError
from triage.graph import DURABILITY, TriageGraph, recursion_limit
from triage.options import Options
from triage.results import missing_texts
from triage.state import BugTriageState, HumanExchange
from triage.tracing import trace_config

# The answer of the user, or None if nobody is there to answer.
Ask = Callable[[HumanExchange], str | None]
# Hears of every step: the node that acted, and what it changed.
Tell = Callable[[str, Mapping[str, Any]], None]
Given = BugTriageState | Command[None] | None
"""What a step starts with: a new job's state, an answer or a change to a stored one, or nothing."""


@dataclass(frozen=True)
class Job:
    """Where a job stands: its state, and the question it waits at (None: it is not waiting)."""

    state: BugTriageState
    waiting: HumanExchange | None
    finished: bool

    @property
    def unwritten(self) -> bool:
        """Whether the job is over because its writer failed: asking it again may still bring all texts."""
        tried = any(failure.agent_name == "writer" for failure in self.state.agent_errors)
        return self.finished and tried and bool(missing_texts(self.state))


def job_config(job_id: str, max_iterations: int, options: Options) -> RunnableConfig:
    """The LangGraph config of a job: its thread, a recursion limit that fits its budget, what it runs with, and what
    its trace is called."""
    limit = recursion_limit(max_iterations, options.supervisor or "llm")
    kept = {"configurable": {"thread_id": job_id}, "recursion_limit": limit, "metadata": options.metadata()}
    return cast("RunnableConfig", kept | trace_config(job_id, options))


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


async def reopened(graph: TriageGraph, config: RunnableConfig, changes: Mapping[str, Any]) -> Given:
    """What a stored job goes on with, its state changed as said; one that only lacks the writer's texts is sent to the
    writer again, beside whatever the supervisor had in mind.

    Raises:
        InputError: the job is over, and there is nothing left that the changes could change.
    """
    job = await stored(graph, config)
    if job is not None and job.finished and not job.unwritten and changes:
        raise InputError("this job is over: leave --max-iterations and --redirect out for its results, or start anew")
    if job is None or not job.unwritten:
        return Command(update=dict(changes)) if changes else None
    again = {"next_node": "end", "routed_node": "writer", "selected_tasks": []}
    told = {"supervisor_reasoning": "Resumed: the writer is asked again.", **changes}
    await graph.aupdate_state(config, {**again, **told}, as_node="supervisor")
    return None


async def drive(graph: TriageGraph, config: RunnableConfig, first: Given, ask: Ask, tell: Tell) -> Job | None:
    """Run the job until it ends or `ask` has no answer. `first` is a new job's state, or what a stored one goes
    on with.

    The graph needs a checkpointer; every step is stored before the next begins. None: there is no such job.
    """
    if first is not None:
        await _step(graph, config, first, tell)
    while (job := await stored(graph, config)) is not None and not job.finished:
        answer = None if job.waiting is None else ask(job.waiting)
        if job.waiting is not None and answer is None:
            break
        await _step(graph, config, None if answer is None else Command(resume=answer), tell)
    return job


async def _step(graph: TriageGraph, config: RunnableConfig, given: Given, tell: Tell) -> None:
    async for update in graph.astream(given, config, stream_mode="updates", durability=DURABILITY):
        for node, changes in update.items():
            if not node.startswith("__") and changes is not None:  # a node that only waits is no step to tell of
                tell(node, changes)
