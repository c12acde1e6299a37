"""`evals bless`: the only thing that changes a baseline."""

from datetime import date
from pathlib import Path

from rich.console import Console

from evals.baseline import make_baseline, path_of, write_baseline
from evals.cli.commands.execute import finished, replay
from evals.cli.commands.selection import Options, scored, selected
from evals.errors import EXIT_OK, CannotJudgeError
from evals.models.run import Run


def bless(name: str, root: Path, *, jobs: int, today: date) -> int:
    """Write the suite's present results as its baseline; held-out cases are no part of it.

    Raises:
        CannotJudgeError: trials failed or are not recorded; a baseline with holes would hide regressions.
    """
    chosen, scope = scored(selected(name, root, Options()), Options(), today)
    trials = replay(chosen, jobs=jobs, fresh=False)
    result = finished(chosen, scope, Options(), trials, None, wants=False)
    if found := holes(result):
        raise CannotJudgeError(f"not blessed: {found[0]}")
    path = path_of(chosen.workspace.baselines, chosen.suite.name)
    write_baseline(path, make_baseline(chosen.suite.name, chosen.cases, chosen.variants, result.trials))
    Console(soft_wrap=True, highlight=False).print(
        f"Blessed {counted(result)} of {name}: review and commit {path.relative_to(chosen.workspace.root)}."
    )
    return EXIT_OK


def holes(result: Run) -> list[str]:
    """Why a run is no baseline. A variant nobody recorded has nothing to lose; one recorded in part would be held to
    all of it by the next run."""
    hollow = ("failed", "coverage too low", "nothing to judge")
    told = [reason.text for reason in result.verdict.reasons if reason.kind in hollow]
    return told + [
        f"{name} is recorded in {mine.exact} of {mine.total} trials; record the rest, or take it out of the suite"
        for name, mine in result.coverage.items()
        if 0 < mine.exact < mine.total * result.gate.coverage_floor
    ]


def counted(result: Run) -> str:
    """How many trials are kept, and of which variants not all are."""
    exact = sum(mine.exact for mine in result.coverage.values())
    short = [f"{name} {mine.exact}/{mine.total}" for name, mine in result.coverage.items() if mine.exact < mine.total]
    return f"{exact} trials" if not short else f"{exact} of {len(result.trials)} trials ({', '.join(short)})"
