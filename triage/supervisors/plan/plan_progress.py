"""How a plan runs in the graph: its prompts with the status board, what runs next, and what a result changes."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langgraph.types import Send

from triage.errors import PromptError
from triage.graph_configuration import Configuration
from triage.issue import discussion_block
from triage.plans.plan_files import Mode
from triage.prompts.load import SupervisorPrompt
from triage.state import (
    AgentFinding,
    BugTriageState,
    CriticVerdict,
    HumanExchange,
    PlanLimits,
    TaskEvent,
    TaskItem,
    TaskStatus,
    Worker,
    by_id,
)
from triage.supervisor_context import exchanges, redirects

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


Visit = Callable[[BugTriageState], Awaitable[dict[str, Any]]]

REVIEW: Final = "review"
"""The node that waits until all tasks of a step are back and hands their results to the critic."""


def dispatched(state: BugTriageState, update: Mapping[str, Any]) -> dict[str, Any]:
    """The supervisor's update with the selected tasks RUNNING, unless a guard has sent the job elsewhere: then they
    stay as they are, and the visit belongs to no task."""
    if update["routed_node"] != update["next_node"]:
        return dict(update)
    plan = by_id(state.plan, update["plan"])
    chosen = set(update["selected_tasks"])
    now = [started(task, update["plan_steps"]) if task.task_id in chosen else task for task in plan]
    return {**update, "plan": now}


def fan_out(state: BugTriageState) -> list[Send] | str:
    """One worker for every task that starts, side by side; without any, where the guards sent the job."""
    ordered = {number: place for place, number in enumerate(state.selected_tasks)}
    running = sorted((task for task in state.plan if task.status == "RUNNING"), key=lambda t: ordered[t.task_id])
    sends = [Send(task.capability, _sent(state, task, place, _orders(task))) for place, task in enumerate(running)]
    return sends or state.routed_node or "end"


def for_review(configuration: Configuration, *, writer_ends: bool) -> Callable[[BugTriageState], list[Send] | str]:
    """The edge behind the review node: a critic for every new result, side by side; without any, the supervisor.

    `writer_ends`: a writer the guards have sent for, beside the plan, has the last word, as under any supervisor; so
    has any writer once the budget is spent, since a review could ask for nothing that there are visits left for.
    """
    standing = parts_of(configuration.needed_prompt).review

    def edge(state: BugTriageState) -> list[Send] | str:
        if writer_ends and state.report is not None and state.iterations >= state.max_iterations:
            return "end"
        waiting = [task for task in state.plan if task.status == "NEEDS_REVIEW"]
        if waiting:
            return [
                Send("critic", _sent(state, task, place, (*standing, *_result(task), *_written(state, task))))
                for place, task in enumerate(waiting)
            ]
        overruled = state.next_node != "writer" == state.routed_node
        return "end" if writer_ends and overruled else "supervisor"

    return edge


async def review(_state: BugTriageState) -> None:
    """Nothing is done here: every worker leads here, so that the edge behind it sees all results at once."""


def as_task(visit: Visit, limits: PlanLimits) -> Visit:
    """The worker node `visit`, its outcome entered in the task it was sent for; without a task just the node."""

    async def work(state: BugTriageState) -> dict[str, Any]:
        task = next((task for task in state.plan if task.task_id == state.task_id), None)
        update = await visit(state)
        if task is None:
            return update
        if task.status == "NEEDS_REVIEW":
            return _judged(task, state.plan_steps, update, limits)
        return {**update, "plan": [_worked(task, state.plan_steps, update)]}

    return work


def _worked(task: TaskItem, step: int, update: Mapping[str, Any]) -> TaskItem:
    """The task after its worker's visit."""
    if errors := update.get("agent_errors"):
        return errored(task, step, errors[0].error)
    found = [*update.get("findings", ()), *map(_answer, update.get("human_exchanges", ()))]
    return returned(task, step, found[0])


def _judged(task: TaskItem, step: int, update: dict[str, Any], limits: PlanLimits) -> dict[str, Any]:
    """The critic's update, its verdict moved to the task: the job's own verdict is that of a `critic` task."""
    kept = {name: value for name, value in update.items() if name != "critic_feedback"}
    if errors := update.get("agent_errors"):
        return {**kept, "plan": [errored(task, step, f"the review failed: {errors[0].error}")]}
    return {**kept, "plan": [reviewed(task, step, update["critic_feedback"], limits)]}


def _answer(exchange: HumanExchange) -> AgentFinding:
    """What the user said, as the result of a task."""
    answer = exchange.answer or ""
    return AgentFinding(agent_name="human_input", summary=answer, confidence=1.0, details=exchange.question)


def _sent(state: BugTriageState, task: TaskItem, place: int, instructions: Sequence[str]) -> BugTriageState:
    """The state as one task's worker gets it: its instructions last, its visit numbered after its neighbours'."""
    orders = [*state.redirect_instructions, *instructions]
    return state.model_copy(
        update={"task_id": task.task_id, "redirect_instructions": orders, "iterations": state.iterations + place}
    )


def _orders(task: TaskItem) -> tuple[str, ...]:
    return (task.objective, *([f"The supervisor adds: {task.guidance}"] if task.guidance else []))


def _written(state: BugTriageState, task: TaskItem) -> tuple[str, ...]:
    """The texts of a writer's result: its summary does not hold them, and a review that cannot read them guesses."""
    if task.capability != "writer" or state.report is None:
        return ()
    report = state.report
    return (
        f"Root cause in the report: {report.root_cause} ({report.root_cause_location or 'no place named'})",
        f"Filed as: {report.category}, {report.severity}, confidence {report.confidence:.0%}",
        f"Affected files: {', '.join(report.affected_files) or 'none'}",
        f"Evidence: {'; '.join(report.evidence) or 'none'}",
        f"Next steps: {'; '.join(report.next_steps) or 'none'}",
        f"Comment to be posted: {' '.join(state.comment.split())}",
        *([f"Ticket: {state.ticket.title}"] if state.ticket else []),
    )


def _result(task: TaskItem) -> tuple[str, ...]:
    """What there is to judge, for the critic."""
    if task.result is None:
        return (f"Objective: {task.objective}", "Result: none")
    return (
        f"Objective: {task.objective}",
        f"Result of {task.capability}: {task.result.summary} ({task.result.details})",
    )
