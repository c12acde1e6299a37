"""The task plan of a trial as a drawing and a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from evals.models.trace import PlannedTask, TaskPlan
from evals.report.view.page_parts import Pool, Table, Texts

BOX: Final = (150, 46)
BEND: Final = 16
"""How wide the empty place is that an edge passes through."""
GAP: Final = (18, 34)
MARGIN: Final = 6
_SWEEPS: Final = 4

Edge = tuple[int, int]
Place = int | tuple[Edge, int]
"""A box, or the bend of an edge in a row."""


@dataclass(frozen=True)
class Box:
    """The upper left corner of a node's box, whose size is `BOX`."""

    node: int
    x: float
    y: float


@dataclass(frozen=True)
class GraphLayout:
    """Boxes, edges as points from the foot of one box to the head of another, and the size of the whole."""

    boxes: tuple[Box, ...]
    ways: tuple[tuple[tuple[float, float], ...], ...]
    width: float
    height: float


def laid_out(nodes: Sequence[int], edges: Sequence[Edge]) -> GraphLayout:
    """The layout of a DAG. Edges to or from what is no node are left out, and so is what closes a cycle."""
    known = set(nodes)
    drawn = [edge for edge in dict.fromkeys(edges) if known.issuperset(edge)]
    depths = _depths(nodes, drawn)
    drawn = [(start, end) for start, end in drawn if depths[start] < depths[end]]
    chains = {edge: _chain(edge, depths) for edge in drawn}
    rows = _rows(nodes, depths, chains)
    widths = [sum(map(_width, row)) + GAP[0] * (len(row) - 1) for row in rows]
    whole = max(widths, default=0)
    left: dict[Place, float] = {}
    for row, width in zip(rows, widths, strict=True):
        x = MARGIN + (whole - width) / 2
        for place in row:
            left[place] = x
            x += _width(place) + GAP[0]
    return GraphLayout(
        tuple(Box(node, left[node], _top(depths[node])) for node in nodes),
        tuple(tuple(_points(chain, left, depths)) for chain in chains.values()),
        whole + 2 * MARGIN,
        _top(len(rows) - 1) + BOX[1] + MARGIN if rows else 2 * MARGIN,
    )


def _depths(nodes: Sequence[int], edges: Sequence[Edge]) -> dict[int, int]:
    """The longest path to each node, in edges; as many rounds as there are nodes settle every DAG."""
    depths = dict.fromkeys(nodes, 0)
    for _ in nodes:
        for start, end in edges:
            depths[end] = min(max(depths[end], depths[start] + 1), len(nodes) - 1)
    return depths


def _chain(edge: Edge, depths: Mapping[int, int]) -> list[Place]:
    start, end = edge
    bends: list[Place] = [(edge, depth) for depth in range(depths[start] + 1, depths[end])]
    return [start, *bends, end]


def _rows(nodes: Sequence[int], depths: Mapping[int, int], chains: Mapping[Edge, Sequence[Place]]) -> list[list[Place]]:
    """Every row in the order it is drawn: places stand near the mean of those they are tied to, up and down in turn."""
    rows: list[list[Place]] = [[] for _ in range(max(depths.values(), default=-1) + 1)]
    for node in nodes:
        rows[depths[node]].append(node)
    for edge, chain in chains.items():
        for depth, bend in enumerate(chain[1:-1], start=depths[edge[0]] + 1):
            rows[depth].append(bend)
    ties = [tie for chain in chains.values() for tie in pairwise(chain)]
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for above, row in pairwise(rows if down else rows[::-1]):
            _sort(row, above, ties if down else [(end, start) for start, end in ties])
    return [row for row in rows if row]


def _sort(row: list[Place], settled: Sequence[Place], ties: Sequence[tuple[Place, Place]]) -> None:
    where = {place: number for number, place in enumerate(settled)}
    means = {}
    for number, place in enumerate(row):
        tied = [where[other] for other, end in ties if end == place and other in where]
        means[place] = sum(tied) / len(tied) if tied else float(number)
    row.sort(key=lambda place: means[place])


def _width(place: Place) -> int:
    return BOX[0] if isinstance(place, int) else BEND


def _top(depth: int) -> float:
    return MARGIN + depth * (BOX[1] + GAP[1])


def _points(
    chain: Sequence[Place], left: Mapping[Place, float], depths: Mapping[int, int]
) -> list[tuple[float, float]]:
    """Foot of the first box, both ends of each bend, head of the last."""
    points = []
    for place in chain:
        x = left[place] + _width(place) / 2
        if isinstance(place, int):
            points.append((x, _top(depths[place]) + (BOX[1] if place == chain[0] else 0)))
        else:
            points += [(x, _top(place[1])), (x, _top(place[1]) + BOX[1])]
    return points


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
    return PlanView(
        pictures.add(Picture(_drawing(plan), _table(plan.tasks))), tuple(_story(task, texts) for task in plan.tasks)
    )


def _drawing(plan: TaskPlan) -> Drawing:
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


def _arrows(layout: GraphLayout) -> tuple[Arrow, ...]:
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


def _state(task: PlannedTask) -> str:
    tries = f", {task.attempts} attempts" if task.attempts > 1 else ""
    return f"{_words(task.status)}{tries}"


def _words(status: str) -> str:
    return status.replace("_", " ").lower()


def _waits(task: PlannedTask) -> str:
    return f"waits for {', '.join(map(str, task.dependencies))}" if task.dependencies else "waits for none"


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
