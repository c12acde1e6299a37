"""`evals history`: every blessed baseline of a suite out of git, as a table, a page, JSON and a badge."""

from pathlib import Path
from typing import Final

from rich.console import Console

from evals.cli.terminal.console import place_of, wide_console
from evals.cli.terminal.tables import shown
from evals.errors import EXIT_OK
from evals.export.folder import write_files
from evals.history.turns import turns
from evals.models.history import History
from evals.pipeline.history import history as told
from evals.report.sheets import render_badge, render_history
from evals.report.view import history as view
from evals.report.view.table import Table
from evals.report.view.turns import turn_table
from evals.workspace import Workspace

RED: Final = 10
"""Red cases that are seen in the terminal."""


def history(suite: str, root: Path, *, out: Path | None) -> int:
    """Print the last baselines and write page, JSON and badge. Returns 0."""
    found = told(suite, root)
    workspace = Workspace.at(root)
    folder = out or workspace.reports / "history"
    write_files(
        folder,
        {
            "index.html": render_history(found),
            "history.json": found.model_dump_json() + "\n",
            "badge.svg": render_badge(found),
        },
    )
    _say(found, wide_console())
    print(f"{view.rests_on(found)} Report: {place_of(folder / 'index.html', workspace.root)}")
    return EXIT_OK


def bisect(suite: str, case: str, root: Path) -> int:
    """Print the commit at which the case turned, under each variant and on each endpoint. Returns 0.

    Raises:
        ConfigurationError: the last baseline has no score of the case.
    """
    found = told(suite, root)
    console = wide_console()
    console.print(shown(turn_table(found, turns(found, case), case)))
    _say_missing(found, console)
    return EXIT_OK


def _say(found: History, console: Console) -> None:
    console.print(shown(view.step_table(found)))
    red = view.red_table(found, view.told_by(found))
    if red.rows:
        hidden = len(red.rows) - RED
        more = f" ({hidden} more are on the page)" if hidden > 0 else ""
        console.print(shown(Table(red.caption + more, red.head, red.rows[:RED])))
    console.print(view.sentence(found), markup=False)
    for text in view.lacks(found):
        console.print(text, markup=False)
    _say_missing(found, console)


def _say_missing(found: History, console: Console) -> None:
    for text in found.missing:
        console.print(text, markup=False)
