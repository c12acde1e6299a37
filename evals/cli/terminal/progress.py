"""Progress on stderr: a bar in a terminal, nothing where nobody watches."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from evals.cli.terminal.console import VisibleConsole
from evals.report.inert import visible


class Bar:
    """One bar; `step` moves it by one and shows what was done last."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task

    def step(self, text: str = "") -> None:
        """One more is done."""
        self._progress.update(self._task, advance=1, text=visible(text))

    def of(self, total: int) -> None:
        """How many there will be, where nobody knew when the bar was made."""
        self._progress.update(self._task, total=total)

    def say(self, text: str) -> None:
        """What is going on now."""
        self._progress.update(self._task, text=visible(text))

    def note(self, text: str) -> None:
        """A line that stays, above the bar."""
        self._progress.console.print(text, highlight=False, markup=False)


@contextmanager
def bar(label: str, total: int | None) -> Iterator[Bar]:
    """A progress bar for `total` steps (None: unknown) with the time it took and will take, gone when it is done."""
    console = VisibleConsole(stderr=True, soft_wrap=True)
    progress = Progress(
        TextColumn(label),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[text]}", markup=False),
        console=console,
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with progress:
        yield Bar(progress, progress.add_task(label, total=total, text=""))
