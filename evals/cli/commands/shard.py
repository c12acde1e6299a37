"""`evals run SUITE --shard i/n`: one share of the trials, kept as a file for `evals merge`; nothing is judged yet."""

import time
from pathlib import Path

from evals.cli.commands.execute import replay
from evals.cli.commands.run import place_of, wide_console
from evals.cli.commands.selection import Options, Selected, selected, to_be_run
from evals.errors import EXIT_OK
from evals.export.shard import write_shard
from evals.models.shard import Asked, Shard
from evals.runner.rests_on import rests_on
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
    chosen = to_be_run(selected(name, root, options), options)
    trials = replay(chosen, jobs=jobs, fresh=fresh, trial_timeout=trial_timeout, share=share, scheduler=scheduler)
    path = out or chosen.workspace.reports / "shards" / f"{chosen.suite.name}-{share.number}-of-{share.of}.json"
    write_shard(
        Shard(
            asked=asked(name, options),
            number=share.number,
            of=share.of,
            rests_on=what_it_rests_on(chosen),
            traces=dict(zip(trials.digests, trials.traces, strict=True)),
        ),
        path,
    )
    failed = sum(trace.provenance.label == "failed" for trace in trials.traces)
    wide_console().print(
        f"shard {share} of {chosen.suite.name}: {len(trials.traces)} trials in {time.monotonic() - started:.1f} s, "
        f"{trials.reused} reused unchanged, {failed} failed. `evals merge` judges them with the others: "
        f"{place_of(path, chosen.workspace.root)}",
        markup=False,
    )
    return EXIT_OK


def what_it_rests_on(chosen: Selected) -> dict[str, str]:
    """The digests two checkouts must share for their traces to be put together."""
    return rests_on(chosen.suite, chosen.cases, chosen.variants, chosen.workspace)


def asked(name: str, options: Options) -> Asked:
    """The suite and the options, as a shard keeps them."""
    return Asked(
        suite=name,
        guards=options.guards,
        max_iterations=options.max_iterations,
        cases=options.cases,
        variants=options.variants,
        dataset=str(options.dataset) if options.dataset else None,
        open_holdout=options.open_holdout,
        samples=options.samples,
    )
