"""`evals run SUITE --shard i/n`: one share of the trials, kept as a file for `evals merge`; nothing is judged yet."""

import time
from pathlib import Path

from evals.cli.terminal.console import place_of, wide_console
from evals.cli.terminal.replaying import replayed
from evals.errors import EXIT_OK
from evals.export.shard import write_shard
from evals.pipeline.options import Options
from evals.pipeline.select import selected, to_be_run
from evals.pipeline.shards import shard_of
from evals.runner.share import Share


def shard(
    name: str,
    root: Path,
    options: Options,
    wanted: str,
    *,
    jobs: int,
    fresh: bool,
    trial_timeout: float,
    scheduler: str,
    out: Path | None,
) -> int:
    """Run the trials of share `wanted` and write them to `out`. Returns 0, whatever became of them: `merge` judges."""
    share = Share.parse(wanted)
    started = time.monotonic()
    chosen = to_be_run(selected(name, root, options))
    trials = replayed(chosen, jobs=jobs, fresh=fresh, trial_timeout=trial_timeout, share=share, scheduler=scheduler)
    path = out or chosen.workspace.reports / "shards" / f"{chosen.suite.name}-{share.number}-of-{share.of}.json"
    write_shard(shard_of(name, chosen, share, trials), path)
    failed = sum(trace.provenance.label == "failed" for trace in trials.traces)
    wide_console().print(
        f"shard {share} of {chosen.suite.name}: {len(trials.traces)} trials in {time.monotonic() - started:.1f} s, "
        f"{trials.reused} reused unchanged, {failed} failed. `evals merge` judges them with the others: "
        f"{place_of(path, chosen.workspace.root)}",
        markup=False,
    )
    return EXIT_OK
