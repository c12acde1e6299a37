"""Command `history`: every blessed baseline of a suite in git."""

from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from evals.analysis.blessed_commits import HistoryRepository
from evals.analysis.history_summary import tell, turns
from evals.atomic_files import write_files
from evals.cli.options import given
from evals.cli.terminal import place_of, shown, wide_console
from evals.comparison.baseline import path_of
from evals.errors import EXIT_OK
from evals.models.analysis_results import History
from evals.pipeline.load_suite import dataset_of
from evals.report.html_page import render_sheet
from evals.report.view import history_page as view
from evals.report.view.history_page import turn_table
from evals.report.view.page_parts import Table
from evals.scoring.registry import scorer_infos
from evals.suites.suite_files import USUAL, names, read_suite, suite_file
from evals.workspace import Workspace

history_app = typer.Typer()

RED: Final = 10
"""Red cases that are seen in the terminal."""


@history_app.command("history")
def history_command(
    context: typer.Context,
    suite: Annotated[str | None, typer.Argument(help="A suite, even a deleted one.")] = None,
    bisect: Annotated[str | None, typer.Option(metavar="CASE", help="Only the commit that changed this case.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the page (default: reports/history).")] = None,
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
        HistoryRepository.at(workspace.root),
        name,
        (known.candidate or "") if known else "",
        path_of(workspace.baselines, name).relative_to(workspace.root).as_posix(),
        workspace.pack.cases_folder(workspace.datasets).relative_to(workspace.root).as_posix(),
        [
            info
            for info in scorer_infos(workspace.pack, known.primary if known else ())
            if info.primary or info.name in COSTS
        ],
    )
