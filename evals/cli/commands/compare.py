"""`evals compare`: two or more variants, prompt files or revisions on the cases of a suite, without writing a suite."""

import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from evals.cli.terminal.replaying import replayed
from evals.cli.terminal.result import say_result
from evals.export.files import write_run
from evals.pipeline.compare import opposed
from evals.pipeline.judge import judge
from evals.pipeline.options import Options
from evals.pipeline.select import scored


def compare(
    specs: Sequence[str],
    suite: str,
    root: Path,
    options: Options,
    *,
    jobs: int,
    fresh: bool,
    out: Path | None,
    today: date,
) -> int:
    """Run the sides, judge the last against the first, write the report; the exit code is the verdict's."""
    chosen, scope = scored(opposed(specs, suite, root, options), today)
    started = time.monotonic()
    trials = replayed(chosen, jobs=jobs, fresh=fresh)
    result = judge(chosen, scope, trials.traces, None, wants_baseline=False)
    folder = out or chosen.workspace.reports / "compare"
    write_run(result, folder)
    took = f"{len(trials.traces)} trials in {time.monotonic() - started:.1f} s, {trials.reused} reused unchanged"
    say_result(result, took, folder, chosen.workspace.root)
    return result.verdict.exit_code
