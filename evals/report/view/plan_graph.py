"""The task plan of a trial as rows of boxes and a table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evals.models.trace import PlannedTask, TaskPlan
from evals.report.view.page_parts import Pool, Table, Texts


@dataclass(frozen=True)
class TaskBox:
    """One task: its title, state and what it waits for, in words; its status as a class."""

    title: str
    state: str
    waits: str
    kind: str
    final: bool


@dataclass(frozen=True)
class Picture:
    """What a plan looks like: rows of tasks, each below all it waits for; and the same as a table."""

    rows: tuple[tuple[TaskBox, ...], ...]
    table: Table


Pictures = Pool[Picture]
"""Trials of one plan mostly look alike."""


@dataclass(frozen=True)
class TaskStory:
    """One task up close; `texts` are (name, number of a text), `events` the number of a text: one line per event, with
    step, status and reason between tabs; empty for a task that was never begun."""

    title: str
    state: str
    texts: tuple[tuple[str, str], ...]
    events: str


@dataclass(frozen=True)
class PlanView:
    """A plan as the drill-down shows it; `picture` is the number of a picture."""

    picture: str
    stories: tuple[TaskStory, ...]


def plan_view(plan: TaskPlan, texts: Texts, pictures: Pictures) -> PlanView:
    """The plan in ready strings; what models said goes to `texts`."""
    picture = Picture(tuple(_rows(plan.tasks)), _table(plan.tasks))
    return PlanView(pictures.add(picture), tuple(_story(task, texts) for task in plan.tasks))


def _rows(tasks: Sequence[PlannedTask]) -> Iterator[tuple[TaskBox, ...]]:
    """Tasks by the longest way to them; a cycle ends in the last row. Those of a row can run side by side."""
    depths = dict.fromkeys((task.task_id for task in tasks), 0)
    for _ in tasks:
        for task in tasks:
            above = max((depths[each] for each in task.dependencies if each in depths), default=-1)
            depths[task.task_id] = min(above + 1, len(tasks) - 1)
    for depth in sorted(set(depths.values())):
        yield tuple(
            TaskBox(f"{task.task_id} {task.capability}", _state(task), _waits(task), task.status.lower(), task.is_final)
            for task in tasks
            if depths[task.task_id] == depth
        )


def _state(task: PlannedTask) -> str:
    tries = f", {task.attempts} attempts" if task.attempts > 1 else ""
    return f"{_words(task.status)}{tries}"


def _words(status: str) -> str:
    return status.replace("_", " ").lower()


def _waits(task: PlannedTask) -> str:
    return f"waits for {', '.join(map(str, task.dependencies))}" if task.dependencies else "waits for nothing"


def _table(tasks: Sequence[PlannedTask]) -> Table:
    return Table(
        "Tasks of the plan",
        ("task", "worker", "waits for", "status", "attempts", "last review"),
        tuple(
            (
                f"{task.task_id}{' (final)' if task.is_final else ''}",
                task.capability,
                ", ".join(map(str, task.dependencies)) or "none",
                _words(task.status),
                str(task.attempts),
                (task.feedback or "none").lower(),
            )
            for task in tasks
        ),
    )


def _story(task: PlannedTask, texts: Texts) -> TaskStory:
    told = {"objective": task.objective, "guidance": task.guidance, "result": task.result or ""}
    lines = ["\t".join((str(event.step), _flat(_words(event.status)), _flat(event.note))) for event in task.history]
    return TaskStory(
        title=f"{task.task_id} {task.capability}",
        state=_state(task),
        texts=tuple((name, texts.add(text)) for name, text in told.items() if text),
        events=texts.add("\n".join(lines)) if lines else "",
    )


def _flat(text: str) -> str:
    """On one line and without tabs: a reason must not pass for another event."""
    return " ".join(text.split())
