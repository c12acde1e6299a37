"""`evals judge`: how accurate a suite's judge is."""

from pathlib import Path
from typing import Annotated

import typer

from evals.atomic_files import write_files
from evals.cli.options import AsJson, given
from evals.cli.run_output import replayed
from evals.cli.terminal import place_of, shown, wide_console
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK
from evals.models.judge import JudgeCheck
from evals.models.run_request import Options
from evals.pipeline.judge_stage import checked, rubric_of
from evals.pipeline.load_suite import selected
from evals.report.html_page import render_sheet
from evals.report.view.judge_view import check_page, notes, rests_on, sentence, tables

judging = typer.Typer()


@judging.command("judge")
def judge_command(
    context: typer.Context,
    suite: Annotated[str, typer.Argument(help="A suite with a judge: a shipped one, or a suite file.")] = "judged",
    as_json: AsJson = False,
    out: Annotated[Path | None, typer.Option(help="Folder of the page (default: reports/judge).")] = None,
) -> int:
    """How often does the judge see a planted defect, punish a harmless change, give in to an attack? Asks nobody.

    `evals record SUITE --judge` asks the judge what is missing. Exit codes: 0 measured, 2 the suite asks no judge,
    3 some answers are not recorded, or there is no good report to break.
    """
    common = given(context)
    chosen = selected(suite, common.root, Options())
    rubric_of(chosen)  # a suite without a judge is said before the work, not after
    found = checked(chosen, replayed(chosen, jobs=common.jobs).traces)
    folder = out or chosen.workspace.reports / "judge"
    stored = "".join(found.pieces(indent=1)) + "\n"
    write_files(folder, {"index.html": render_sheet("judge", check_page(found)), "judge.json": stored})
    if as_json:
        print(stored, end="")
    else:
        _say(found, place_of(folder / "index.html", chosen.workspace.root))
    return EXIT_CANNOT_JUDGE if found.missing else EXIT_OK


def _say(found: JudgeCheck, report: str) -> None:
    console = wide_console()
    console.print(rests_on(found), markup=False)
    for table in tables(found):
        console.print(shown(table))
    for line in notes(found):
        console.print(line, markup=False)
    console.print(sentence(found), style="bold", markup=False)
    console.print(f"Report: {report}", markup=False)
