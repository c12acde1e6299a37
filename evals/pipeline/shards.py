"""A run in shares: each kept as a file, all put together again and judged as one."""

from collections.abc import Mapping
from pathlib import Path

from evals.models.shard import Shard
from evals.pipeline.options import Options
from evals.pipeline.select import Selected, selected, to_be_run
from evals.runner.merge import check, join
from evals.runner.pool import Trials, cassette_digests, trial_digests
from evals.runner.rests_on import rests_on
from evals.runner.share import Share


def shard_of(name: str, chosen: Selected, share: Share, trials: Trials) -> Shard:
    """The trials of one share of suite `name`, with what they rest on."""
    return Shard(
        asked=chosen.options.asked(name),
        number=share.number,
        of=share.of,
        rests_on=_rests_on(chosen),
        traces=dict(zip(trials.digests, trials.traces, strict=True)),
    )


def joined(shards: Mapping[Path, Shard], root: Path) -> tuple[Selected, Trials]:
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


def _rests_on(chosen: Selected) -> dict[str, str]:
    """The digests two checkouts must share for their traces to be put together."""
    return rests_on(chosen.suite, chosen.cases, chosen.variants, chosen.workspace)
