"""`evals bless`: the only thing that changes a baseline."""

from datetime import date
from pathlib import Path

from rich.console import Console

from evals.baseline import make_baseline, path_of, write_baseline
from evals.cli.commands.execute import finished, replay
from evals.cli.commands.selection import Options, scored, selected
from evals.errors import EXIT_OK, CannotJudgeError


def bless(name: str, root: Path, *, jobs: int, today: date) -> int:
    """Write the suite's present results as its baseline; held-out cases are no part of it.

    Raises:
        CannotJudgeError: trials failed or are not recorded; a baseline with holes would hide regressions.
    """
    chosen, scope = scored(selected(name, root, Options()), Options(), today)
    trials = replay(chosen, jobs=jobs, fresh=False)
    result = finished(chosen, scope, Options(), trials, None, wants=False)
    hollow = ("failed", "coverage too low", "nothing to judge")
    holes = [reason.text for reason in result.verdict.reasons if reason.kind in hollow]
    if holes:
        raise CannotJudgeError(f"not blessed: {holes[0]}")
    path = path_of(chosen.workspace.baselines, chosen.suite.name)
    write_baseline(path, make_baseline(chosen.suite.name, chosen.cases, chosen.variants, result.trials))
    Console(soft_wrap=True, highlight=False).print(
        f"Blessed {len(result.trials)} trials of {name}: review and commit {path.relative_to(chosen.workspace.root)}."
    )
    return EXIT_OK
