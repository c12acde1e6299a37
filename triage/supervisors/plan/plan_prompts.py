"""Prompts of the plan supervisor: its parts and the status board."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from triage.context_message import exchanges, redirects
from triage.errors import PromptError
from triage.issue import discussion_block
from triage.plans.plan_files import Mode
from triage.prompts.load import SupervisorPrompt
from triage.state import BugTriageState, CriticVerdict, PlanLimits, TaskItem
from triage.supervisors.plan.task_status import runnable

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
