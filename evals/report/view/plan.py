"""The plan of a trial: its DAG as a drawing, the same in a table, and what happened to each task."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from evals.models.trace import Plan, Task
from evals.report.view.layers import BOX, GAP, Layout, laid_out
from evals.report.view.table import Table
from evals.report.view.texts import Texts

_HEAD = 5
"""Half the width of an arrow's head, and its height."""


@dataclass(frozen=True)
class TaskBox:
    """One task in the drawing: where its box stands, its two lines, and its class."""

    x: str
    y: str
    title: str
    state: str
    kind: str
    final: bool


@dataclass(frozen=True)
class Arrow:
    """An edge: the line and its head, as SVG paths."""

    line: str
    head: str


@dataclass(frozen=True)
class Drawing:
    """The DAG; `spoken` says it in words."""

    width: str
    height: str
    box_width: str
    box_height: str
    middle: str
    boxes: tuple[TaskBox, ...]
    arrows: tuple[Arrow, ...]
    spoken: str


@dataclass(frozen=True)
class Picture:
    """What a plan looks like: the drawing, and the same as a table."""

    drawing: Drawing
    table: Table


class Pictures:
    """A pool of pictures: trials of one plan mostly look alike. `add` gives the number the page finds one by."""

    def __init__(self) -> None:
        self._numbers: dict[Picture, str] = {}

    def add(self, picture: Picture) -> str:
        """The number of the picture; equal ones share one."""
        return self._numbers.setdefault(picture, str(len(self._numbers)))

    def all(self) -> tuple[Picture, ...]:
        """The pictures in order of their numbers."""
        return tuple(self._numbers)


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


def plan_view(plan: Plan, texts: Texts, pictures: Pictures) -> PlanView:
    """The plan in ready strings; what models said goes to `texts`."""
    return PlanView(
        pictures.add(Picture(_drawing(plan), _table(plan.tasks))), tuple(_story(task, texts) for task in plan.tasks)
    )


def _drawing(plan: Plan) -> Drawing:
    layout = laid_out([task.task_id for task in plan.tasks], plan.edges)
    places = {box.node: box for box in layout.boxes}
    return Drawing(
        width=_number(layout.width),
        height=_number(layout.height),
        box_width=str(BOX[0]),
        box_height=str(BOX[1]),
        middle=_number(BOX[0] / 2),
        boxes=tuple(
            TaskBox(
                x=_number(places[task.task_id].x),
                y=_number(places[task.task_id].y),
                title=f"{task.task_id} {task.capability}",
                state=_state(task),
                kind=task.status.lower(),
                final=task.is_final,
            )
            for task in plan.tasks
        ),
        arrows=_arrows(layout),
        spoken=f"Plan of {len(plan.tasks)} task{'s' * (len(plan.tasks) != 1)}. "
        + " ".join(f"Task {task.task_id}, {task.capability}, {_state(task)}, {_waits(task)}." for task in plan.tasks),
    )


def _arrows(layout: Layout) -> tuple[Arrow, ...]:
    return tuple(Arrow(_curve(way), _tip(way[-1])) for way in layout.ways)


def _curve(way: Sequence[tuple[float, float]]) -> str:
    """From row to row in an S, straight down beside the boxes."""
    (x, y), *_ = way
    path = [f"M{_number(x)} {_number(y)}"]
    for (x, y), (to, end) in pairwise(way):
        bend = GAP[1] / 2 if to != x else 0.0
        path.append(
            f"C{_number(x)} {_number(y + bend)} {_number(to)} {_number(end - bend)} {_number(to)} {_number(end)}"
        )
    return "".join(path)


def _tip(at: tuple[float, float]) -> str:
    x, y = at
    return f"M{_number(x - _HEAD)} {_number(y - _HEAD)}H{_number(x + _HEAD)}L{_number(x)} {_number(y)}Z"


def _number(value: float) -> str:
    """A coordinate without a needless decimal."""
    return f"{value:.1f}".removesuffix(".0")


def _state(task: Task) -> str:
    tries = f", {task.attempts} attempts" if task.attempts > 1 else ""
    return f"{_words(task.status)}{tries}"


def _words(status: str) -> str:
    return status.replace("_", " ").lower()


def _waits(task: Task) -> str:
    return f"waits for {', '.join(map(str, task.dependencies))}" if task.dependencies else "waits for none"


def _table(tasks: Sequence[Task]) -> Table:
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


def _story(task: Task, texts: Texts) -> TaskStory:
    told = {"objective": task.objective, "told by the supervisor": task.guidance, "result": task.result or ""}
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
