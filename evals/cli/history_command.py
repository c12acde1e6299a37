"""Command `history`: every blessed baseline of a suite in git."""

from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from evals.analysis.history_summary import turns
from evals.atomic_files import write_files
from evals.cli.global_options import given
from evals.cli.terminal import place_of, shown, wide_console
from evals.errors import EXIT_OK
from evals.models.history_result import History
from evals.pipeline.suite_history import suite_history
from evals.report.html_page import render_sheet
from evals.report.view import history_page as view
from evals.report.view.history_page import turn_table
from evals.report.view.page_parts import Table
from evals.suites.suite_files import USUAL, suite_file
from evals.workspace import Workspace

history_app = typer.Typer()

RED: Final = 10
"""Red cases that are seen in the terminal."""


@history_app.command("history")
def history_command(
    context: typer.Context,
    suite: Annotated[str | None, typer.Argument(help="A suite, also a deleted one.")] = None,
    bisect: Annotated[str | None, typer.Option(metavar="CASE", help="Only the commit that changed this case.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where the page goes; reports/history if not given.")] = None,
) -> int:
    """A suite's past: every blessed baseline in git, as a table, a page and JSON; nothing is run.

    Exit codes: 2 no git, no repository or no such case; 3 no baseline was ever committed, or git cannot read history.
    """
    root = given(context).root
    found, console = suite_history(suite or suite_file(USUAL, root).stem, root), wide_console()
    if bisect is not None:
        console.print(shown(turn_table(found, turns(found, bisect), bisect)))
        _say_missing(found, console)
        return EXIT_OK
    workspace = Workspace.at(root)
    folder = out or workspace.reports / "history"
    write_files(
        folder,
        {
            "index.html": render_sheet("history", view.history_page(found), "history.css"),
            "history.json": found.model_dump_json() + "\n",
        },
    )
    _say(found, console)
    print(f"{view.rests_on(found)} Report: {place_of(folder / 'index.html', workspace.root)}")
    return EXIT_OK


def _say(found: History, console: Console) -> None:
    console.print(shown(view.step_table(found)))
    red = view.red_lines(found)
    if red.rows:
        hidden = len(red.rows) - RED
        more = f" ({hidden} more are on the page)" if hidden > 0 else ""
        console.print(shown(Table(red.caption + more, red.head, red.rows[:RED])))
    console.print(view.sentence(found), markup=False)
    _say_missing(found, console)


def _say_missing(found: History, console: Console) -> None:
    for text in found.missing:
        console.print(text, markup=False)
