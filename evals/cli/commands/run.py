"""`evals run`: replay, score, judge, write the report, and exit with the verdict's code."""

import time
from datetime import date
from functools import partial
from pathlib import Path

from evals.cli.terminal.annotate import annotate
from evals.cli.terminal.replaying import replayed
from evals.cli.terminal.result import say_result
from evals.export.folder import new_report
from evals.pipeline.deliver import deliver, prepare
from evals.pipeline.load import load_suite
from evals.pipeline.options import Options


def run(
    name: str,
    root: Path,
    options: Options,
    *,
    jobs: int,
    fresh: bool,
    trial_timeout: float,
    out: Path | None,
    today: date,
    annotations: bool,
    scheduler: str,
) -> int:
    """Run a suite and write its report; the exit code is the verdict's."""
    folder = out or root.resolve() / "reports" / "latest"
    with new_report(folder):
        chosen = load_suite(name, root, options, today=today)
        started = time.monotonic()
        trials = replayed(
            chosen,
            jobs=jobs,
            fresh=fresh,
            trial_timeout=trial_timeout,
            scheduler=scheduler,
            meanwhile=partial(prepare, chosen),
        )
        result = deliver(chosen, trials, folder, anew=fresh)
    took = f"{len(trials.traces)} trials in {time.monotonic() - started:.1f} s, {trials.reused} reused unchanged"
    say_result(result, took, folder, chosen.workspace.root)
    annotate(result, chosen.workspace.root, asked=annotations)
    return result.verdict.exit_code
