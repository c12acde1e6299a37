"""Command `history`: every blessed baseline of a suite in git."""

from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from evals.analysis.history_summary import tell, turns
from evals.atomic_files import write_files
from evals.cli.global_options import given
from evals.cli.terminal import place_of, shown, wide_console
from evals.comparison.baseline import path_of
from evals.errors import EXIT_OK
from evals.models.history_result import History
from evals.pipeline.load_run import dataset_of
from evals.report.html_page import render_badge, render_history
from evals.report.view import history_page as view
from evals.report.view.history_page import turn_table
from evals.report.view.page_parts import Table
from evals.scoring.registry import scorer_infos
from evals.suites.suite_files import names, read_suite
from evals.workspace import Workspace

history_app = typer.Typer()


@history_app.command("history")
def history_command(
    context: typer.Context,
    suite: Annotated[
        str, typer.Argument(help="A suite by name, also one that is gone from the checkout, or a suite file.")
    ] = "prompts",
    bisect: Annotated[
        str | None, typer.Option(metavar="CASE", help="Only say at which commit this case turned.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where the page goes; reports/history if not given.")] = None,
) -> int:
    """How a suite went: every blessed baseline out of git, as a table, a page, JSON and a badge; nothing is run.

    Exit codes: 2 no git, no repository or no such case; 3 no baseline was ever committed, or git cannot tell.
    """
    root = given(context).root
    return find_turn(suite, bisect, root) if bisect is not None else history(suite, root, out=out)


RED: Final = 10
"""Red cases that are seen in the terminal."""


def history(suite: str, root: Path, *, out: Path | None) -> int:
    """Print the last baselines and write page, JSON and badge. Returns 0."""
    found = suite_history(suite, root)
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


def find_turn(suite: str, case: str, root: Path) -> int:
    """Print the commit at which the case turned, under each variant and on each endpoint. Returns 0.

    Raises:
        ConfigurationError: the last baseline has no score of the case.
    """
    found = suite_history(suite, root)
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


COSTS = ("cost.visits", "cost.llm_calls", "cost.tokens", "cost.price_usd", "cost.latency_s")


def suite_history(suite: str, root: Path) -> History:
    """What git says of a suite, by name (also of one that is gone) or by its file; nothing is run.

    Raises:
        ConfigurationError: no git, no repository, or no such suite file.
        CannotJudgeError: no baseline of the suite was ever committed.
    """
    known = read_suite(suite, root) if suite.endswith((".yaml", ".yml")) or suite in names(root) else None
    workspace = Workspace.at(root, dataset_of(known, root) if known else None)
    name = known.name if known else suite
    return tell(
        workspace.root,
        name,
        path_of(workspace.baselines, name).relative_to(workspace.root).as_posix(),
        workspace.pack.cases_folder(workspace.datasets).relative_to(workspace.root).as_posix(),
        [info for info in scorer_infos() if info.primary or info.name in COSTS],
    )
