"""`evals sweep`: its options, its work and what it prints."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from evals.cli.options import Cases, OpenHoldout, Suite, given
from evals.cli.terminal import bar, place_of, shown, wide_console
from evals.models.run_request import Options
from evals.pipeline.load_suite import selected
from evals.report.numbers import NOTHING, rate
from evals.report.run_files import write_sheet
from evals.report.view.page_parts import Table
from evals.triage.sweep.sweep_choice import Axes, swept
from evals.triage.sweep.sweep_page import render_sweep
from evals.triage.sweep.sweep_result import CHOSEN_ON, Behaviour, Sweep

SINGLE: Final = "0.5:0.95:0.05"
CORROBORATED: Final = "0.4:0.9:0.1"

_STYLE: Final = {"recommended": "bold green", "not confirmed": "bold red", "cannot recommend": "bold yellow"}
SHOWN: Final = 20
sweeping = typer.Typer()


@sweeping.command("sweep")
def sweep_command(
    context: typer.Context,
    suite: Suite,
    single: Annotated[str, typer.Option(help="Thresholds that one finding needs: FROM:TO:STEP or a,b,c.")] = SINGLE,
    corroborated: Annotated[str, typer.Option(help="Thresholds that several findings need.")] = CORROBORATED,
    min_findings: Annotated[str, typer.Option(help="From how many findings on --corroborated applies.")] = "2",
    sets: Annotated[str | None, typer.Option("--guards", help="Guard sets to try: all, or a,b,c.")] = None,
    variant: Annotated[str | None, typer.Option(help="The variant to change (default: the candidate).")] = None,
    score: Annotated[str, typer.Option(help="The metric that chooses the setting.")] = "route.score",
    case: Cases = None,
    open_holdout: OpenHoldout = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the report (default: reports/sweep).")] = None,
) -> int:
    """Try thresholds and guard sets on recorded answers: choose on the split `tune`, confirm on the split `gate`.

    Exit codes: 0 confirmed, 1 the choice failed on the split `gate`, 3 too few recorded answers to recommend a setting.
    """
    common = given(context, dataset=True)
    axes = Axes(single, corroborated, min_findings, sets)
    options = Options(
        cases=tuple(case or ()),
        variants=(variant,) if variant else (),
        dataset=common.dataset,
        open_holdout=open_holdout,
    )
    chosen = selected(suite, common.root, options)
    with bar(f"sweeping {chosen.suite.name}", len(chosen.cases)) as progress:
        result = swept(
            chosen,
            axes,
            score,
            jobs=common.jobs,
            today=datetime.now(UTC).date(),
            progress=lambda done: progress.step(f"{done.case_id}: {len(done.traces)} trials"),
        )
    folder = out or chosen.workspace.reports / "sweep"
    result = write_sheet(result, render_sweep, folder, "sweep", chosen.workspace.cassettes)
    _say(result, place_of(folder / "index.html", chosen.workspace.root))
    return result.recommendation.exit_code


def _say(result: Sweep, report: str) -> None:
    console = wide_console()
    console.print(shown(_table(result)))
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
    head = ("setting (single/corroborated/findings)", "points", "exact", result.score, "steps", "asked", "calls")
    caption = f"{result.variant} of {result.suite} on {CHOSEN_ON}, as {result.score}"
    return Table(caption, head, tuple(_row(one, result) for one in result.behaviours[:SHOWN]))


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
