"""Tasks by name."""

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from taskmill.errors import ConfigError, UnknownTaskError

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Task:
    """A function that jobs may name, and how its jobs are treated unless told otherwise."""

    name: str
    function: Callable[..., Any]
    queue: str = "default"
    max_attempts: int | None = None


class Registry:
    """The tasks this process knows."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}

    def add(self, task: Task) -> None:
        """Register a task. Raises ConfigError when the name is taken by another function."""
        known = self._tasks.get(task.name)
        if known is not None and known.function is not task.function:
            raise ConfigError(f"two tasks are named {task.name!r}")
        self._tasks[task.name] = task

    def find(self, name: str) -> Task | None:
        """The task, or None."""
        return self._tasks.get(name)

    def get(self, name: str) -> Task:
        """The task. Raises UnknownTaskError."""
        task = self._tasks.get(name)
        if task is None:
            raise UnknownTaskError(name)
        return task

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(self._tasks)


default_registry = Registry()


def task(
    name: str, *, queue: str = "default", max_attempts: int | None = None, registry: Registry = default_registry
) -> Callable[[Function], Function]:
    """Register the decorated function under `name`; the function itself is returned unchanged."""

    def register(function: Function) -> Function:
        registry.add(Task(name=name, function=function, queue=queue, max_attempts=max_attempts))
        return function

    return register


def import_tasks(modules: Iterable[str]) -> None:
    """Import the modules whose decorators register tasks. Raises ConfigError for one that cannot be imported."""
    for module in modules:
        try:
            importlib.import_module(module)
        except ModuleNotFoundError as error:
            raise ConfigError(f"cannot import {module}: {error}") from error
