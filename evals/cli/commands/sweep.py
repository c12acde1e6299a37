"""`evals sweep`: which thresholds and guards to work with, from what is recorded."""

from datetime import date
from pathlib import Path
from typing import Final

from rich.table import Table

from evals.cli.terminal.console import place_of, wide_console
from evals.cli.terminal.progress import bar
from evals.export.sheet import write_sheet
from evals.models.sweep import Behaviour, Sweep
from evals.pipeline.options import Options
from evals.pipeline.select import selected
from evals.pipeline.sweep import Axes, swept
from evals.report.numbers import NOTHING, rate
from evals.report.sheets import render_sweep
from evals.sweep.choose import CHOSEN_ON

_STYLE: Final = {"recommended": "bold green", "not confirmed": "bold red", "cannot recommend": "bold yellow"}
SHOWN: Final = 20


def sweep(
    name: str, root: Path, options: Options, axes: Axes, score: str, *, jobs: int, out: Path | None, today: date
) -> int:
    """Try every point of the grid, print and write the result; the exit code is the recommendation's."""
    chosen = selected(name, root, options)
    with bar(f"sweeping {chosen.suite.name}", len(chosen.cases)) as progress:
        result = swept(
            chosen,
            axes,
            score,
            jobs=jobs,
            today=today,
            progress=lambda done: progress.step(f"{done.case_id}: {len(done.traces)} trials"),
        )
    folder = out or chosen.workspace.reports / "sweep"
    result = write_sheet(result, render_sweep, folder, "sweep", chosen.workspace.cassettes)
    _say(result, place_of(folder / "index.html", chosen.workspace.root))
    return result.recommendation.exit_code


def _say(result: Sweep, report: str) -> None:
    console = wide_console()
    console.print(_table(result))
    hidden = len(result.behaviours) - SHOWN
    if hidden > 0:
        console.print(f"... and {hidden} more behaviours in the report")
    cases = sum(result.cases.values())
    console.print(
        f"{result.points} points x {cases} cases: {result.executed} trials told them all apart, as "
        f"{len(result.behaviours)} behaviours."
    )
    verdict = result.recommendation
    console.print(verdict.sentence, style=_STYLE[verdict.status], markup=False)
    console.print(f"exit code {verdict.exit_code} ({verdict.status}). Report: {report}", markup=False)


def _table(result: Sweep) -> Table:
    """One row per behaviour, with what it comes to on the split the choice is made on."""
    table = Table(title=f"{result.variant} of {result.suite} on {CHOSEN_ON}, as {result.score}")
    for heading in (
        "setting (single/corroborated/findings)",
        "points",
        "exact",
        result.score,
        "visits",
        "asked",
        "calls",
    ):
        table.add_column(heading)
    for one in result.behaviours[:SHOWN]:
        table.add_row(*_row(one, result))
    return table


def _row(one: Behaviour, result: Sweep) -> tuple[str, ...]:
    measure = one.splits.get(CHOSEN_ON)
    mark = " *" if one.name in result.front else ""
    now = " (now)" if any(point.name == result.present for point in one.points) else ""
    if measure is None:
        return (f"{one.name}{now}", str(len(one.points)), "no case", *([NOTHING] * 4))
    return (
        f"{one.name}{now}{mark}",
        str(len(one.points)),
        f"{measure.coverage.exact}/{measure.coverage.total}",
        rate(measure.score),
        *(
            NOTHING if mean is None else f"{mean:.1f}"
            for mean in (measure.visits, measure.questions, measure.llm_calls)
        ),
    )
