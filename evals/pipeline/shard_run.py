"""Run one shard of a suite, and merge shards into one run."""

from collections.abc import Mapping
from pathlib import Path

from evals.models.run_request import Options
from evals.models.shard_file import Shard
from evals.pipeline.load_run import selected, to_be_run
from evals.run_context import RunContext
from evals.runner.dependencies import rests_on
from evals.runner.shard_merge import check, join
from evals.runner.trials import Trials, cassette_digests, trial_digests


def shard_of(chosen: RunContext, trials: Trials) -> Shard:
    """The trials of the share that was asked for, with what they rest on."""
    share = chosen.request.share
    return Shard(
        asked=chosen.options.asked(chosen.request.suite),
        number=share.number,
        of=share.of,
        rests_on=_rests_on(chosen),
        traces=dict(zip(trials.digests, trials.traces, strict=True)),
    )


def joined(shards: Mapping[Path, Shard], root: Path) -> tuple[RunContext, Trials]:
    """The selection the shards were made from, made anew, with all its trials.

    Raises:
        CannotJudgeError: a share is missing, or they rest on other things than this checkout has.
    """
    check(shards)
    asked = next(iter(shards.values())).asked
    suite = selected(asked.suite, root, Options.of(asked))
    run = to_be_run(suite)
    recorded = cassette_digests(run.cases, run.workspace)
    digests = trial_digests(run.suite, run.cases, run.variants, run.workspace, recorded=recorded)
    return suite, join(shards, _rests_on(run), digests, recorded)


def _rests_on(chosen: RunContext) -> dict[str, str]:
    """The digests two checkouts must share for their traces to be put together."""
    return rests_on(chosen.suite, chosen.cases, chosen.variants, chosen.workspace)
