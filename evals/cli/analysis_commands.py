"""The work of `evals selftest` and `explain`."""

from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Final

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from evals.cli.terminal import bar, place_of, wide_console
from evals.cli.terminal_output import replayed
from evals.comparison.first_divergence import diverge
from evals.errors import EXIT_OK, EXIT_WORSE
from evals.models.analysis import SelfTest
from evals.models.run_request import Options
from evals.models.trace import Trace
from evals.pipeline.load_run import scored, selected
from evals.pipeline.selftest_suite import STEPS, self_test
from evals.pipeline.single_trial import explain as explained
from evals.report.html_page import render_selftest
from evals.report.run_files import write_sheet
from evals.report.view.explain_view import ExplainedStep, Explanation, explanation, wanted
from evals.report.view.selftest_page import again, faults, power
from evals.shared.visible_text import visible


def selftest(name: str, root: Path, *, jobs: int, draws: int, today: date, out: Path | None) -> int:
    """Exit 0 if every fault that changes anything is caught and false alarms are no more frequent than alpha, else 1.

    Raises:
        CannotJudgeError: the suite is not green as it is, so that a red with a fault in it would prove nothing.
    """
    chosen = scored(selected(name, root, Options()), today)
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


LABEL: Final = 10
"""Columns for what a line is about."""
LINES: Final = 2
"""Lines of the terminal that one text may take; side by side, one more."""


def say_explained(console: Console, wanted: Sequence[tuple[str, str]], told: Sequence[Explanation]) -> None:
    """The label's side, then the trials: one below the other where there is one, else side by side."""
    console.print(_heading("The label wants"))
    console.print(_lines(wanted, console.width, LINES))
    lines = LINES if len(told) == 1 else LINES + 1
    width = console.width if len(told) == 1 else (console.width - 2) // len(told)
    columns = Table.grid(padding=(0, 2, 0, 0), pad_edge=False)
    for _ in told:
        columns.add_column(width=width)
    columns.add_row(*(_heading(f"{each.variant}: {each.provenance}") for each in told))
    for row in range(max(len(each.steps) for each in told)):
        columns.add_row(*(_step(each.steps, row, width, lines) for each in told))
    columns.add_row(*(Group(_heading("What came of it"), _lines(each.outcome, width, lines)) for each in told))
    console.print(columns)


def _step(steps: Sequence[ExplainedStep], row: int, width: int, lines: int) -> Group | Text:
    if row >= len(steps):
        return Text("")
    step = steps[row]
    wrong = [Text(f"✗ {visible(step.wrong)}", style="bold red")] if step.wrong else []
    return Group(Text(visible(step.title), style="bold"), _lines(step.lines, width, lines), *wrong)


def _lines(told: Iterable[tuple[str, str]], width: int, lines: int) -> Table:
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(width=LABEL, style="dim")
    room = max(width - LABEL - 2, 10)
    table.add_column(width=room)
    for what, text in told:
        table.add_row(Text(f"  {what}"), _cut(text, room, lines))
    return table


def _cut(text: str, width: int, lines: int) -> Text:
    """The text on a line, then on as many as there may be; an ellipsis where more was there."""
    found = Text(visible(" ".join(text.split())))
    found.truncate((width - 4) * lines, overflow="ellipsis")  # room for words that do not fit at a line's end
    return found


def _heading(text: str) -> Text:
    return Text(visible(text), style="bold underline")


def explain(case: str, variants: Sequence[str], suite: str, root: Path, console: Console | None = None) -> int:
    """Print the case's trial under each variant. Returns 0.

    Raises:
        ConfigurationError: the suite has no such case or variant.
        CannotJudgeError: the case is held out.
    """
    console = console or wide_console()
    found = explained(case, variants, suite, root)
    console.print(Text(visible(f"{found.case.id} (suite {found.suite}): {found.case.title}"), style="bold"))
    say_explained(console, wanted(found.case), [explanation(each, found.case, found.changes) for each in found.trials])
    if len(found.trials) == 2:
        console.print(_parted(*(trial.trace for trial in found.trials)), markup=False)
    return EXIT_OK


def _parted(was: Trace, now: Trace) -> str:
    """First divergence between two trials, as a sentence."""
    parted = diverge(was, now)
    if parted is None:
        return f"{now.variant} takes the same route as {was.variant}, as far as both are recorded."
    return f"{now.variant} differs from {was.variant} at decision {parted.decision + 1}: {parted.what}."
