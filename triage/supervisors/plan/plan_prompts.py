"""Prompts of the plan supervisor: its parts and the status board; transitions of a task's status."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from triage.context_message import exchanges, redirects
from triage.errors import PromptError
from triage.issue import discussion_block
from triage.plans.plan_files import Mode
from triage.prompts.load import SupervisorPrompt
from triage.state import (
    AgentFinding,
    BugTriageState,
    CriticVerdict,
    PlanLimits,
    TaskEvent,
    TaskItem,
    TaskStatus,
    Worker,
)

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


ISSUE_SHOWN: Final = 2_000
"""Characters of the issue's text on the board; the workers read more of it."""
SHAPE: Final[dict[Mode, str]] = {
    "fixed": "fixed: no task can be added or changed",
    "llm": "yours to make: add the tasks it needs",
    "hybrid": "given: tasks can be added and changed",
}


def board(
    state: BugTriageState, plan: Sequence[TaskItem], mode: Mode, limits: PlanLimits, notes: Sequence[str], ending: str
) -> str:
    """The human message: sections with a blank line between, `ending` last."""
    sections = [
        redirects(state.redirect_instructions),
        f"## Issue\n{state.issue_title}\n\n{state.issue_body[:ISSUE_SHOWN]}{discussion_block(state.issue_discussion)}",
        _progress(state, limits),
        f"## Plan ({SHAPE[mode]})\n{tasks_text(plan, limits)}",
        f"## Can run now\n{', '.join(str(task.task_id) for task in runnable(plan)) or 'nothing'}",
        f"## Human exchanges so far\n{exchanges(state.human_exchanges, None)}",
        f"## What your tools have said\n{_numbered(notes)}" if notes else "",
        ending,
    ]
    return "\n\n".join(section for section in sections if section)


def tasks_text(plan: Sequence[TaskItem], limits: PlanLimits) -> str:
    """The tasks in order, a blank line between."""
    return "\n\n".join(_task(task, limits) for task in plan) or "There is no task yet."


def report_on(task: TaskItem) -> str:
    """What the critic last said of the result of `task`."""
    if task.feedback is None:
        return f"task {task.task_id} has not been reviewed"
    return f"task {task.task_id}: {_verdict(task.feedback)}"


def _progress(state: BugTriageState, limits: PlanLimits) -> str:
    return (
        f"## Progress\nStep {state.plan_steps + 1} of {limits.max_steps}\n"
        f"Visits so far: {state.iterations} of {state.max_iterations}"
    )


def _task(task: TaskItem, limits: PlanLimits) -> str:
    final = ", final" if task.is_final else ""
    waits = f"waits for: {', '.join(map(str, task.dependencies)) or 'none'}"
    tries = f"attempts: {task.attempts} of {limits.max_attempts}"
    lines = [
        f"[{task.task_id}] {task.status} {task.capability}{final} ({waits}; {tries})",
        f"Objective: {task.objective}",
    ]
    if task.result:
        lines += [f"Result (confidence: {task.result.confidence:.0%}): {task.result.summary}"]
        lines += [f"Details: {task.result.details}"]
    if task.feedback:
        lines += [f"Review: {_verdict(task.feedback)}"]
    if task.status in {"ERRORED", "CANCELLED"} and task.history:
        lines += [f"Reason: {task.history[-1].note}"]
    return "\n".join(lines)


def _verdict(verdict: CriticVerdict) -> str:
    missing = f"; missing: {'; '.join(verdict.gaps)}" if verdict.gaps else ""
    return f"{verdict.verdict} (confidence: {verdict.confidence:.0%}){missing}"


def _numbered(notes: Sequence[str]) -> str:
    return "\n".join(f"{number}. {note}" for number, note in enumerate(notes, 1))


MARKS: Final = ("<!-- decide -->", "<!-- review -->")


@dataclass(frozen=True)
class PlanPrompt:
    """What the supervisor is told: always `system`, then what closes the message of each kind of request. `review` goes
    to the critic, line by line, when it judges the result of a task."""

    system: str
    tools: str
    decide: str
    review: tuple[str, ...]


def parts_of(prompt: SupervisorPrompt) -> PlanPrompt:
    """The parts of `prompt`.

    Raises:
        PromptError: it lacks one.
    """
    marks = "|".join(map(re.escape, MARKS))
    texts = [text.strip() for text in re.split(rf"^(?:{marks})\s*$", prompt.task, flags=re.MULTILINE)]
    if len(texts) != len(MARKS) + 1 or not all(texts):
        raise PromptError(
            f"{prompt.version}: below the task line it needs {' and '.join(MARKS)}, in this "
            "order, with text around them; plan-v1 is one"
        )
    tools, decide, review = texts
    return PlanPrompt(prompt.system, tools, decide, tuple(review.splitlines()))
