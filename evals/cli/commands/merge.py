"""`evals merge SHARD...`: the shards of one run put together, and judged as `evals run` would have judged it whole."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from evals.cli.commands.annotate import annotate
from evals.cli.commands.execute import baseline_of
from evals.cli.commands.run import delivered, say_report
from evals.cli.commands.selection import Options, scored, selected, to_be_run
from evals.cli.commands.shard import what_it_rests_on
from evals.export.shard import read_shard
from evals.models.shard import Asked
from evals.runner.merge import check, join
from evals.runner.pool import trial_digests


def merge(paths: Sequence[Path], root: Path, *, out: Path | None, today: date, annotations: bool) -> int:
    """Select the same trials anew, find each in a shard, score, judge and write; the exit code is the verdict's."""
    shards = {path: read_shard(path) for path in paths}
    check(shards)
    name, options = _told(next(iter(shards.values())).asked)
    suite = selected(name, root, options)
    run = to_be_run(suite, options)
    trials = join(shards, what_it_rests_on(run), trial_digests(run.suite, run.cases, run.variants, run.workspace))
    chosen, scope = scored(suite, options, today)
    baseline = None if options.changed else baseline_of(chosen)
    folder = out or chosen.workspace.reports / "latest"
    result = delivered(chosen, scope, options, trials, baseline, wants=not options.changed, folder=folder)
    say_report(f"{len(trials.traces)} trials of {len(shards)} shards", folder, chosen.workspace.root)
    annotate(result, chosen.workspace.root, asked=annotations)
    return result.verdict.exit_code


def _told(asked: Asked) -> tuple[str, Options]:
    """The suite and the options the shards were made with."""
    options = Options(
        guards=asked.guards,
        max_iterations=asked.max_iterations,
        cases=asked.cases,
        variants=asked.variants,
        dataset=Path(asked.dataset) if asked.dataset else None,
        open_holdout=asked.open_holdout,
        samples=asked.samples,
    )
    return asked.suite, options
