"""What happened in a stored job, step by step, read off its checkpoints: no graph is needed, and no endpoint."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triage.checkpoints import JobSaver, state_in
from triage.options import Options
from triage.state import BugTriageState

Changes = Mapping[str, Any]


@dataclass(frozen=True)
class Step:
    """One superstep that has come to its end: the state it began in, what each node changed (tasks of a plan in order
    of their ids), and what the job ran with."""

    before: BugTriageState
    changes: tuple[Changes, ...]
    options: Options


async def history(jobs: JobSaver, name: str) -> list[Step]:
    """The steps of the job `name` in which somebody decided or worked, the first one first.

    Raises:
        CheckpointError: a state was written by a newer triage, or fits no schema.
    """
    kept = [checkpoint async for checkpoint in jobs.alist({"configurable": {"thread_id": name}})]
    steps = []
    for checkpoint in reversed(kept):
        values = checkpoint.checkpoint["channel_values"]
        changes = _changes(checkpoint.pending_writes or ())
        if changes and "issue_title" in values:
            steps.append(Step(state_in(values), changes, Options.from_metadata(checkpoint.metadata)))
    return steps


def _changes(writes: Any) -> tuple[Changes, ...]:  # noqa: ANN401 - LangGraph's triples of task, channel and value
    """What each task wrote, but for those that only wait."""
    by_task: dict[str, dict[str, Any]] = {}
    for task, channel, value in writes:
        by_task.setdefault(task, {})[channel] = value
    return tuple(sorted((wrote for wrote in by_task.values() if decided(wrote) or "visits" in wrote), key=_task_id))


def decided(changes: Changes) -> bool:
    """Whether this is what the supervisor changed, and no worker."""
    return "routed_node" in changes and "visits" not in changes


def _task_id(changes: Changes) -> int:
    tasks = changes.get("plan") or ()
    return 0 if decided(changes) or not tasks else int(tasks[0].task_id)
