"""How a plan runs in the graph: the chosen tasks start, each worker gets its own, each result goes to the critic."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from langgraph.types import Send

from triage.configuration import Configuration
from triage.state import AgentFinding, BugTriageState, HumanExchange, PlanLimits, TaskItem, by_id
from triage.supervisors.plan.plan_prompts import errored, parts_of, returned, reviewed, started

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
