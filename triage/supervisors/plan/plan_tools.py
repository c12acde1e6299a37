"""The supervisor's tools: each takes the plan and gives it back, with one line that says what changed."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import ConfigDict, Field, ValidationError

from triage.findings import Form
from triage.plans.plan_files import Mode, faults, may_reshape
from triage.state import PlanLimits, TaskItem, TaskStatus, Worker, by_id
from triage.supervisors.plan.plan_progress import OVER, RefusedError, noted, report_on, set_status


@dataclass(frozen=True)
class Desk:
    """What tools work on: the plan, and what the rules of this step are."""

    plan: tuple[TaskItem, ...]
    step: int
    limits: PlanLimits
    clock: Callable[[], dt.datetime]

    def task(self, number: int) -> TaskItem:
        """The task of that number. Raises RefusedError if there is none."""
        found = next((task for task in self.plan if task.task_id == number), None)
        if found is None:
            known = ", ".join(str(task.task_id) for task in self.plan) or "none"
            raise RefusedError(f"there is no task {number}; known are {known}")
        return found

    def with_task(self, task: TaskItem) -> "Desk":
        """The desk with `task` in its place in the plan. Raises RefusedError if that is no plan any more."""
        plan = tuple(by_id(list(self.plan), [task]))
        if wrong := faults(plan):
            raise RefusedError(wrong[0].text)
        return replace(self, plan=plan)


class Arguments(Form):
    """What a tool is called with: nothing, unless it says otherwise. Strangers are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Thought(Arguments):
    """For `think`."""

    thought: str


class NewStatus(Arguments):
    """For `update_task_status`."""

    task_id: int
    status: TaskStatus = Field(description="READY, RERUN or CANCELLED; the others are set for you")


class Cancellation(Arguments):
    """For `cancel_task`."""

    task_id: int
    reason: str


class OneTask(Arguments):
    """For `view_qa_report`."""

    task_id: int


class NewTask(Arguments):
    """For `add_task`."""

    objective: str = Field(min_length=1, description="what the worker has to find out or write")
    capability: Worker
    dependencies: tuple[int, ...] = Field(default=(), description="numbers of the tasks it waits for")
    is_final: bool = Field(default=False, description="true for the one task that ends the job")


class Patch(Arguments):
    """For `patch_task`."""

    task_id: int
    objective: str | None = Field(default=None, min_length=1)
    dependencies: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Tool:
    """A tool under the name the model calls it by; the docstring of `run` is its description."""

    arguments: type[Arguments]
    run: Callable[[Desk, Any], tuple[Desk, str]]

    @property
    def name(self) -> str:
        """The function's own."""
        return self.run.__name__

    @property
    def spec(self) -> dict[str, Any]:
        """What the endpoint is told."""
        parameters = self.arguments.model_json_schema()
        parameters.pop("description", None)
        described = " ".join((self.run.__doc__ or "").split())
        return {"type": "function", "function": {"name": self.name, "description": described, "parameters": parameters}}


def think(desk: Desk, _given: Thought) -> tuple[Desk, str]:
    """Note a thought for yourself; it changes nothing."""
    return desk, "noted"


def update_task_status(desk: Desk, given: NewStatus) -> tuple[Desk, str]:
    """Make a task READY or RERUN again after an error, or CANCELLED."""
    task = set_status(desk.task(given.task_id), desk.step, given.status, desk.limits)
    return desk.with_task(task), f"task {task.task_id} is {task.status}"


def cancel_task(desk: Desk, given: Cancellation) -> tuple[Desk, str]:
    """Take a task out of the plan that is not worth running any more."""
    task = set_status(desk.task(given.task_id), desk.step, "CANCELLED", desk.limits, note=given.reason)
    return desk.with_task(task), f"task {task.task_id} is CANCELLED"


def view_qa_report(desk: Desk, given: OneTask) -> tuple[Desk, str]:
    """Read what the critic said of a task's latest result."""
    return desk, report_on(desk.task(given.task_id))


def get_current_datetime(desk: Desk, _given: Arguments) -> tuple[Desk, str]:
    """The current date and time."""
    return desk, desk.clock().isoformat(timespec="seconds")


def add_task(desk: Desk, given: NewTask) -> tuple[Desk, str]:
    """Add a task to the plan; the answer is its number."""
    final = next((task.task_id for task in desk.plan if task.is_final and task.status != "CANCELLED"), None)
    if given.is_final and final is not None:
        raise RefusedError(f"task {final} is the final one already; add this as an ordinary task, or cancel that one")
    number = max((task.task_id for task in desk.plan), default=0) + 1
    task = noted(TaskItem(task_id=number, **given.model_dump()), desk.step, "added by the supervisor")
    return desk.with_task(task), f"added as task {number}"


def patch_task(desk: Desk, given: Patch) -> tuple[Desk, str]:
    """Change the objective or the dependencies of a task that is not over yet."""
    task = desk.task(given.task_id)
    if task.status in OVER:
        raise RefusedError(f"task {task.task_id} is {task.status}: it is over; add a new one")
    changes = {name: value for name, value in given.model_dump(exclude={"task_id"}).items() if value is not None}
    changed = noted(task.model_copy(update=changes), desk.step, f"changed: {', '.join(changes) or 'nothing'}")
    return desk.with_task(changed), f"task {task.task_id} is changed"


ALWAYS: Final = (
    Tool(Thought, think),
    Tool(NewStatus, update_task_status),
    Tool(Cancellation, cancel_task),
    Tool(OneTask, view_qa_report),
    Tool(Arguments, get_current_datetime),
)
RESHAPING: Final = (Tool(NewTask, add_task), Tool(Patch, patch_task))


def tools_of(mode: Mode) -> tuple[Tool, ...]:
    """The tools of a mode. Where there is no plan to start from, making one comes first: small models take what comes
    first."""
    if not may_reshape(mode):
        return ALWAYS
    return (*RESHAPING, *ALWAYS) if mode == "llm" else (*ALWAYS, *RESHAPING)


def use(desk: Desk, tools: Sequence[Tool], name: str, arguments: Mapping[str, Any]) -> tuple[Desk, str]:
    """One call by the model. Whatever is wrong with it changes nothing and is said in the line that comes back."""
    told = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    tool = next((tool for tool in tools if tool.name == name), None)
    if tool is None:
        return desk, f"{name}({told}): no such tool; there are {', '.join(tool.name for tool in tools)}"
    try:
        changed, said = tool.run(desk, tool.arguments.model_validate(arguments))
    except ValidationError as error:
        first = error.errors()[0]
        return desk, f"{name}({told}): not done: {'.'.join(map(str, first['loc'])) or 'arguments'}: {first['msg']}"
    except RefusedError as error:
        return desk, f"{name}({told}): not done: {error}"
    return changed, f"{name}({told}): {said}"
