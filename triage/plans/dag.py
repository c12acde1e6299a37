"""What makes a set of tasks a plan: unique ids, dependencies that exist, no cycle."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol


class Node(Protocol):
    """All the shape of a plan depends on."""

    @property
    def task_id(self) -> int:
        """Its number."""

    @property
    def dependencies(self) -> tuple[int, ...]:
        """The numbers it waits for."""


class Fault(NamedTuple):
    """What is wrong, and where: the place of the task in the list (-1: of none), and the field."""

    place: int
    field: str
    text: str


def faults(tasks: Sequence[Node]) -> tuple[Fault, ...]:
    """Everything that keeps `tasks` from being a plan, in order of the list. A cycle is looked for only where ids and
    dependencies are sound."""
    return (*_repeated(tasks), *_missing(tasks)) or _cycle(tasks)


def edges(tasks: Sequence[Node]) -> tuple[tuple[int, int], ...]:
    """The edges of the DAG, each from a task to one that waits for it."""
    return tuple((before, task.task_id) for task in tasks for before in task.dependencies)


def _repeated(tasks: Sequence[Node]) -> Iterator[Fault]:
    seen: set[int] = set()
    for index, task in enumerate(tasks):
        if task.task_id in seen:
            yield Fault(index, "task_id", f"there is a task {task.task_id} already; use another number")
        seen.add(task.task_id)


def _missing(tasks: Sequence[Node]) -> Iterator[Fault]:
    known = {task.task_id for task in tasks}
    for index, task in enumerate(tasks):
        for number in task.dependencies:
            if number not in known:
                text = f"task {task.task_id} depends on task {number}, which does not exist"
                yield Fault(index, "dependencies", f"{text}; known are {', '.join(map(str, sorted(known)))}")


def _cycle(tasks: Sequence[Node]) -> tuple[Fault, ...]:
    waits_for = {task.task_id: task.dependencies for task in tasks}
    for index, task in enumerate(tasks):
        if way := _way_back(task.task_id, waits_for):
            text = " -> ".join(map(str, way))
            return (Fault(index, "dependencies", f"tasks wait for each other ({text}); take one dependency out"),)
    return ()


def _way_back(start: int, waits_for: Mapping[int, Sequence[int]]) -> tuple[int, ...]:
    """A way along the dependencies from `start` to itself, both ends included; empty if there is none."""
    ways: list[tuple[int, ...]] = [(start,)]
    seen: set[int] = set()
    while ways:
        way = ways.pop()
        for number in waits_for[way[-1]]:
            if number == start:
                return (*way, number)
            if number not in seen:
                seen.add(number)
                ways.append((*way, number))
    return ()
