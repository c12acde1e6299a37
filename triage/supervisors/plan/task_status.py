"""Transitions of a task's status, as pure functions."""

from collections.abc import Sequence
from typing import Any, Final

from triage.state import AgentFinding, CriticVerdict, PlanLimits, TaskEvent, TaskItem, TaskStatus, Worker

MOVES: Final[dict[TaskStatus, frozenset[TaskStatus]]] = {
    "READY": frozenset({"RUNNING", "RERUN", "CANCELLED"}),
    "RERUN": frozenset({"RUNNING", "READY", "CANCELLED"}),
    "RUNNING": frozenset({"NEEDS_REVIEW", "COMPLETED", "ERRORED"}),
    "NEEDS_REVIEW": frozenset({"COMPLETED", "READY", "FAILED", "ERRORED"}),
    "ERRORED": frozenset({"READY", "RERUN", "CANCELLED"}),
    "COMPLETED": frozenset(),
    "FAILED": frozenset(),
    "CANCELLED": frozenset(),
}
RUNNABLE: Final[frozenset[TaskStatus]] = frozenset({"READY", "RERUN"})
OVER: Final[frozenset[TaskStatus]] = frozenset(status for status, moves in MOVES.items() if not moves)
SUPERVISORS: Final[frozenset[TaskStatus]] = frozenset({"READY", "RERUN", "CANCELLED"})
"""What the supervisor may set; everything else follows from what workers and critic say."""
REVIEWED: Final[frozenset[Worker]] = frozenset({"investigator", "codebase_search", "web_search", "writer"})
"""Whose results the critic judges: a person's answer stands, and a review is not reviewed again."""


class RefusedError(ValueError):
    """A transition that does not exist; the message says which one would."""


def runnable(plan: Sequence[TaskItem]) -> tuple[TaskItem, ...]:
    """The tasks that may run now: READY or RERUN, with every dependency COMPLETED."""
    done = {task.task_id for task in plan if task.status == "COMPLETED"}
    return tuple(task for task in plan if task.status in RUNNABLE and done.issuperset(task.dependencies))


def started(task: TaskItem, step: int) -> TaskItem:
    """The task goes to its worker: one more attempt."""
    note = f"attempt {task.attempts + 1}" + (f"; told: {task.guidance}" if task.guidance else "")
    return _moved(task, "RUNNING", step, note, {"attempts": task.attempts + 1})


def returned(task: TaskItem, step: int, result: AgentFinding) -> TaskItem:
    """The worker answered."""
    status: TaskStatus = "NEEDS_REVIEW" if task.capability in REVIEWED else "COMPLETED"
    return _moved(task, status, step, result.summary, {"result": result})


def errored(task: TaskItem, step: int, error: str) -> TaskItem:
    """The worker, or the review of its result, failed."""
    return _moved(task, "ERRORED", step, error, {})


def reviewed(task: TaskItem, step: int, verdict: CriticVerdict, limits: PlanLimits) -> TaskItem:
    """Passed: COMPLETED. Failed: READY with what is missing appended to the objective, or FAILED without tries left."""
    if verdict.verdict == "APPROVED":
        return _moved(task, "COMPLETED", step, "passed the review", {"feedback": verdict})
    missing = "; ".join(verdict.gaps) or "it does not answer the objective"
    if task.attempts >= limits.max_attempts:
        return _moved(task, "FAILED", step, missing, {"feedback": verdict})
    objective = f"{task.objective}\nA review of attempt {task.attempts} found: {missing}"
    return _moved(task, "READY", step, missing, {"feedback": verdict, "objective": objective})


def set_status(task: TaskItem, step: int, status: TaskStatus, limits: PlanLimits, note: str = "") -> TaskItem:
    """The supervisor sets the status.

    Raises:
        RefusedError: not a status it may set, no such transition, or no try left.
    """
    if status not in SUPERVISORS:
        raise RefusedError(
            f"{status} follows from the work and its review; you can set {', '.join(sorted(SUPERVISORS))}"
        )
    if status in RUNNABLE and task.attempts >= limits.max_attempts:
        raise RefusedError(
            f"task {task.task_id} has used all {limits.max_attempts} attempts; cancel it or go on without it"
        )
    return _moved(task, status, step, note or "set by the supervisor", {})


def noted(task: TaskItem, step: int, note: str) -> TaskItem:
    """Something happened to the task that did not move it."""
    event = TaskEvent(step=step, status=task.status, note=note)
    return task.model_copy(update={"history": (*task.history, event)})


def guided(task: TaskItem, text: str) -> TaskItem:
    """The supervisor's word to the worker, for the next attempt."""
    return task.model_copy(update={"guidance": text})


def _moved(task: TaskItem, status: TaskStatus, step: int, note: str, changes: dict[str, Any]) -> TaskItem:
    if status not in MOVES[task.status]:
        possible = ", ".join(sorted(MOVES[task.status])) or "nothing: it is over"
        raise RefusedError(f"task {task.task_id} is {task.status} and cannot become {status}; possible is {possible}")
    return noted(task.model_copy(update={**changes, "status": status}), step, note)
