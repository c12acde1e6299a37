"""Trials of a run in shards: one share run and written, and all shards joined and decided."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from evals.atomic_files import new_report
from evals.models.run import Run
from evals.models.run_request import Options, RunRequest
from evals.models.shard_file import Shard
from evals.pipeline.decide_run import decide
from evals.pipeline.load_run import loaded, selected, to_be_run
from evals.report.run_files import write_report
from evals.report.stored_files import read_shard, write_shard
from evals.run_context import Progress, RunContext
from evals.runner.dependencies import rests_on
from evals.runner.shard_merge import check, join
from evals.runner.trials import Trials, cassette_digests, run_trials, trial_digests


def run_shard(request: RunRequest, progress: Progress) -> tuple[RunContext, Trials, Path]:
    """Run the trials of the request's share and write them; selection, trials and file."""
    share = request.share
    chosen = replace(to_be_run(selected(request.suite, request.root, request.options)), request=request)
    trials = run_trials(replace(chosen, progress=progress))
    shard = Shard(
        asked=chosen.options.asked(request.suite),
        number=share.number,
        of=share.of,
        rests_on=rests_on(chosen.suite, chosen.cases, chosen.variants, chosen.workspace),
        traces=dict(zip(trials.digests, trials.traces, strict=True)),
    )
    path = request.out or chosen.workspace.reports / "shards" / f"{chosen.suite.name}-{share.number}-of-{share.of}.json"
    write_shard(shard, path)
    return chosen, trials, path


def decide_shards(paths: Sequence[Path], request: RunRequest) -> tuple[Run, int]:
    """Select the same trials anew, find each in a shard, score, decide and write; the run and its number of trials.

    Raises:
        CannotJudgeError: a share is missing, or they rest on other things than this checkout has.
    """
    folder = request.folder()
    with new_report(folder):
        shards = {path: read_shard(path) for path in paths}
        check(shards)
        asked = next(iter(shards.values())).asked
        suite = selected(asked.suite, request.root, Options.of(asked))
        run = to_be_run(suite)
        recorded = cassette_digests(run.cases, run.workspace)
        digests = trial_digests(run.suite, run.cases, run.variants, run.workspace, recorded=recorded)
        trials = join(shards, rests_on(run.suite, run.cases, run.variants, run.workspace), digests, recorded)
        result = decide(loaded(suite, request.today), trials)
        write_report(result, folder)
    return result, len(trials.traces)
