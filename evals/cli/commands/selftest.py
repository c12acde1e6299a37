"""`evals selftest`: plants faults in a green suite and nothing in another, and prints what the gate made of it."""

from datetime import date
from pathlib import Path

from rich.table import Table

from evals.cli.terminal.console import place_of, wide_console
from evals.cli.terminal.progress import bar
from evals.cli.terminal.replaying import replayed
from evals.errors import EXIT_OK, EXIT_WORSE
from evals.export.sheet import write_sheet
from evals.models.selftest import SelfTest
from evals.pipeline.options import Options
from evals.pipeline.select import scored, selected
from evals.pipeline.selftest import STEPS, self_test
from evals.report.sheets import render_selftest
from evals.report.view.selftest import again, faults, power


def selftest(name: str, root: Path, *, jobs: int, draws: int, today: date, out: Path | None) -> int:
    """Exit 0 if every fault that changes anything is caught and false alarms are no more frequent than alpha, else 1.

    Raises:
        CannotJudgeError: the suite is not green as it is, so that a red with a fault in it would prove nothing.
    """
    chosen, _ = scored(selected(name, root, Options()), today)
    replayed(chosen, jobs=jobs)  # what is not there yet, with a bar of its own
    with bar("self-test", STEPS) as progress:
        result = self_test(chosen, jobs=jobs, draws=draws, said=progress.step)
    folder = out or chosen.workspace.reports / "selftest"
    result = write_sheet(result, render_selftest, folder, "selftest", chosen.workspace.cassettes)
    _say(result, place_of(folder / "index.html", chosen.workspace.root))
    return EXIT_WORSE if result.complaints else EXIT_OK


def _say(result: SelfTest, report: str) -> None:
    console = wide_console()
    for view in (faults(result), power(result)):
        table = Table(title=view.caption)
        for heading in view.head:
            table.add_column(heading)
        for row in view.rows:
            table.add_row(*row)
        console.print(table)
    console.print(again(result))
    console.print(result.sentence, style="bold")
    console.print(f"Report: {report}", markup=False)
