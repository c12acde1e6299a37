"""Bless: a suite's present results become its baseline. Nothing else changes one."""

from dataclasses import replace
from pathlib import Path

from evals.errors import CannotJudgeError
from evals.judging.baseline import make_baseline, path_of, write_baseline
from evals.models.run import Run
from evals.pipeline.judge import judge
from evals.pipeline.load import LoadedSuite
from evals.runner.pool import Trials


def bless(chosen: LoadedSuite, trials: Trials) -> tuple[Run, Path]:
    """Write the baseline; the run it is of, and where it stands.

    Raises:
        CannotJudgeError: trials failed or are not recorded; a baseline with holes would hide regressions.
    """
    result = judge(replace(chosen, baseline=None, wants_baseline=False), trials)
    if found := holes(result):
        raise CannotJudgeError(f"not blessed: {found[0]}")
    path = path_of(chosen.workspace.baselines, chosen.suite.name)
    write_baseline(path, make_baseline(chosen.suite.name, chosen.cases, chosen.variants, result.trials))
    return result, path


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
