"""`evals judge check`: how far a judge can be trusted, measured on planted defects, from the tape."""

from pathlib import Path

from evals.cli.terminal.console import place_of, wide_console
from evals.cli.terminal.replaying import replayed
from evals.cli.terminal.tables import shown
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK
from evals.export.folder import write_files
from evals.models.judged import JudgeCheck
from evals.pipeline.judged import checked, prompts_of
from evals.pipeline.options import Options
from evals.pipeline.select import selected
from evals.report.sheets import render_judge
from evals.report.view.judge_check import lengths, position, rests_on, sentence, tables


def check(name: str, root: Path, *, jobs: int, as_json: bool, out: Path | None) -> int:
    """Print what was measured; 0 when all of it could be, 3 when answers are missing.

    Raises:
        ConfigurationError: the suite asks no judge.
        CannotJudgeError: there is no good report to break.
    """
    chosen = selected(name, root, Options())
    prompts_of(chosen)  # a suite without a judge is said before the work, not after
    found = checked(chosen, replayed(chosen, jobs=jobs).traces)
    folder = out or chosen.workspace.reports / "judge"
    stored = "".join(found.pieces(indent=1)) + "\n"
    write_files(folder, {"index.html": render_judge(found), "judge.json": stored})
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
    for line in (position(found), *lengths(found)):
        console.print(line, markup=False)
    console.print(sentence(found), style="bold", markup=False)
    console.print(f"Report: {report}", markup=False)
