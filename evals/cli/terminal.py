"""What all commands print with: consoles, tables, progress, annotations, interrupts."""

import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from evals.application_pack import load_pack
from evals.models.run import Run
from evals.prompt_versions import Stretch, changed_lines, usual_base
from evals.report.view import page_parts as view
from evals.shared.display_text import visible

WIDTH: Final = 120  # of a log file, which has no width of its own
LONGEST_NAME: Final = 30


class VisibleConsole(Console):
    """Shows what would act unseen: names and texts from issues, suites and models may hold escapes of terminals."""

    def render_str(self, text: str, **options: Any) -> Text:  # noqa: ANN401 - as rich has them
        """Every string that is printed, and every cell of a table, comes by here; a `Text` does not."""
        return super().render_str(visible(text), **options)


class _Unpadded(io.StringIO):
    """Standard output without the blanks that fill lines of tables up."""

    def write(self, text: str) -> int:
        """As a stream."""
        return sys.stdout.write(re.sub(r" +$", "", text, flags=re.MULTILINE))


def wide_console() -> Console:
    """Standard output: text is wrapped to fit a terminal, and never in a log file, where it is searched."""
    if sys.stdout.isatty():
        return VisibleConsole(highlight=False)
    return VisibleConsole(file=_Unpadded(), soft_wrap=True, highlight=False, width=WIDTH)


def say(text: str, *, whole: bool = False) -> None:
    """A text on stdout, broken between words at a terminal unless it has to stay `whole`, to be copied."""
    wide_console().print(text, markup=False, soft_wrap=whole or None)


def note(text: str) -> None:
    """A line on stderr, as it is."""
    VisibleConsole(stderr=True, soft_wrap=True).print(text, highlight=False, markup=False)


def place_of(path: Path, root: Path) -> str:
    """A path as short as the checkout allows."""
    full = path.resolve()
    return full.relative_to(root).as_posix() if full.is_relative_to(root) else str(path)


def shown(ready: view.Table, *, lines: bool = False) -> RenderableType:
    """A table of the report without a frame, its caption above; with `lines` between rows of several lines. A name in
    the first column is not broken unless it is long."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), show_lines=lines)
    names = max(len(row[0]) for row in (ready.head, *ready.rows))
    table.add_column(escape(ready.head[0]), overflow="fold", no_wrap=names <= LONGEST_NAME)
    for heading in ready.head[1:]:
        table.add_column(escape(heading), overflow="fold")  # a name that is cut is no name
    for row in ready.rows:
        table.add_row(*map(escape, row))
    return Group(Text(visible(ready.caption), style="bold"), table) if ready.caption else table


def across(ready: view.Table) -> view.Table:
    """The table with rows and columns exchanged."""
    head, *rows = zip(ready.head, *ready.rows, strict=True)
    return view.Table(ready.caption, tuple(head), tuple(map(tuple, rows)))


class ProgressBar:
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
def bar(label: str, total: int | None) -> Iterator[ProgressBar]:
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
        yield ProgressBar(progress, progress.add_task(label, total=total, text=""))


def annotate(run: Run, root: Path, *, asked: bool) -> None:
    """Print the workflow commands; nothing elsewhere than on GitHub unless `asked`.

    Changed means since the branch was made (the pull request's base); elsewhere, since the last commit.
    """
    if not asked and os.environ.get("GITHUB_ACTIONS") != "true":
        return
    for command in annotations(run, changed_lines(run.variants, root, usual_base(), load_pack())):
        print(command)


_LEVEL: Final = {"not worse": "notice", "worse": "error", "cannot judge": "warning", "changed": "warning"}
MOST: Final = 10
"""GitHub shows ten annotations of a level per step."""


def annotations(run: Run, changes: Sequence[Stretch]) -> Iterable[str]:
    """One GitHub annotation for each stretch of changed lines; what is past GitHub's limit is counted in the last."""
    verdict = run.verdict
    for number, (path, first, last) in enumerate(changes[:MOST], start=1):
        left = len(changes) - MOST if number == MOST else 0
        more = f" ({left} more changed places)" if left > 0 else ""
        place = f"file={_property(path)},line={first},endLine={last}"
        yield f"::{_LEVEL[verdict.status]} {place},title={_property(verdict.status)}::{_data(verdict.sentence + more)}"


def _data(text: str) -> str:
    """The text on one line: a line end would begin another command."""
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
