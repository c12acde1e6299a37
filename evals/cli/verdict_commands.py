"""The work of `evals merge`, `gate`, `bless`, `compare` and of shards."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evals.atomic_files import PREVIOUS, new_report
from evals.cli.terminal import VisibleConsole, annotate, place_of, wide_console
from evals.cli.terminal_output import replayed, say_exit_code, say_result, say_verdict, watched
from evals.comparison.assemble import decide_again
from evals.comparison.baseline import load_baseline, path_of
from evals.errors import EXIT_OK, CannotJudgeError, ConfigurationError
from evals.llm_judge.judge_verdict import with_judgement
from evals.models.judge import JudgedRun
from evals.models.run import Run
from evals.models.run_request import Options, RunRequest
from evals.models.shard_file import Shard
from evals.models.suite import GatePolicy
from evals.pipeline.bless_suite import bless as blessed
from evals.pipeline.bless_suite import counted
from evals.pipeline.changed_files import changed_since
from evals.pipeline.compare_variants import compare as compared
from evals.pipeline.decide_run import decide
from evals.pipeline.load_run import loaded, selected, to_be_run
from evals.report.run_files import write_report
from evals.report.stored_files import read_run, read_shard, write_shard
from evals.run_context import RunContext
from evals.runner.dependencies import rests_on
from evals.runner.shard_merge import check, join
from evals.runner.trials import Trials, cassette_digests, run_trials, trial_digests
from evals.workspace import Workspace


def run_shard(request: RunRequest) -> int:
    """Run the trials of the request's share and write them. Returns 0, whatever became of them: `merge` decides."""
    started, share = time.monotonic(), request.share
    with watched(f"replaying {request.suite}") as progress:
        chosen = to_be_run(selected(request.suite, request.root, request.options))
        trials = run_trials(replace(chosen, request=request, progress=progress))
    path = request.out or chosen.workspace.reports / "shards" / f"{chosen.suite.name}-{share.number}-of-{share.of}.json"
    write_shard(shard_of(replace(chosen, request=request), trials), path)
    failed = sum(trace.provenance.label == "failed" for trace in trials.traces)
    wide_console().print(
        f"shard {share} of {chosen.suite.name}: {len(trials.traces)} trials in {time.monotonic() - started:.1f} s, "
        f"{trials.reused} reused unchanged, {failed} failed. `evals merge` judges them with the others: "
        f"{place_of(path, chosen.workspace.root)}",
        markup=False,
    )
    return EXIT_OK


def merge(paths: Sequence[Path], request: RunRequest) -> int:
    """Select the same trials anew, find each in a shard, score, decide and write; the exit code is the verdict's."""
    folder = request.folder()
    with new_report(folder):
        shards = {path: read_shard(path) for path in paths}
        suite, trials = joined(shards, request.root)
        chosen = loaded(suite, request.today)
        result = decide(chosen, trials)
        write_report(result, folder)
    say_result(result, f"{len(trials.traces)} trials of {len(shards)} shards", folder, chosen.workspace.root)
    annotate(result, chosen.workspace.root, asked=request.annotations)
    return result.verdict.exit_code


def gate(run: Path, root: Path, **policy: Any) -> int:  # noqa: ANN401 - fields of GatePolicy, which checks them
    """Judge again, with the given fields of the policy changed; None leaves a field as the run had it.

    Raises:
        CannotJudgeError: the run is one of this checkout, and something it was made from has changed since.
    """
    if not run.exists() and (before := run.parent / PREVIOUS / run.name).exists():
        raise CannotJudgeError(f"{run}: the last run came to no verdict; run it again (the one before is {before})")
    stored = read_run(run)
    try:
        changed = {name: value for name, value in policy.items() if value is not None}
        asked = GatePolicy.model_validate({**stored.gate.model_dump(), **changed})
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigurationError(f"policy, {first['loc'][0]}: {first['msg']}") from error
    workspace = Workspace.at(root)
    if run.resolve().is_relative_to(workspace.reports):
        if since := changed_since(stored, root):
            raise CannotJudgeError(
                f"{place_of(run, workspace.root)}: made before a change of {_some(since)}; "
                f"run `.venv/bin/evals run {stored.suite}` again"
            )
    else:
        print(f"{run}: judged as it was stored; not compared with this checkout, as it is not below reports/")
    baseline = load_baseline(path_of(workspace.baselines, stored.suite))
    again: Run = decide_again(stored, baseline, asked)
    if isinstance(again, JudgedRun):
        again = with_judgement(again, again.judge, f"make record SUITE={stored.suite}")
    console = wide_console()
    say_verdict(console, again)
    say_exit_code(console, again)
    return again.verdict.exit_code


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def bless(request: RunRequest, worse: str | None = None) -> int:
    """Write the suite's present results as its baseline; held-out cases are no part of it. `worse` is the reason for
    blessing what is worse. Returns 0."""
    chosen = loaded(selected(request.suite, request.root, request.options), request.today, own_baseline=False)
    found = blessed(chosen, replayed(chosen, jobs=request.jobs), worse)
    console = VisibleConsole(soft_wrap=True, highlight=False)
    for loss in found.losses:
        console.print(f"accepted: {loss}", markup=False)
    if worse is not None and not found.losses:
        console.print("Nothing is worse; the reason is not kept.")
    console.print(
        f"Blessed {counted(found.run)} of {request.suite}: review and commit "
        f"{found.path.relative_to(chosen.workspace.root)}."
    )
    return EXIT_OK


def compare(specs: Sequence[str], request: RunRequest) -> int:
    """Run the sides, compare the last with the first, write the report; the exit code is the verdict's."""
    workspace = Workspace.at(request.root, request.options.dataset)
    folder = request.out or workspace.reports / "compare"
    with new_report(folder):
        with watched(f"comparing {' '.join(specs)}") as progress:
            at = (request.suite, request.root, request.options)
            result = compared(
                specs, *at, jobs=request.jobs, fresh=request.fresh, progress=progress, today=request.today
            )
        write_report(result, folder)
    say_result(result, progress.took, folder, workspace.root, verbose=request.verbose)
    return result.verdict.exit_code


def shard_of(chosen: RunContext, trials: Trials) -> Shard:
    """The trials of the share that was asked for, with what they rest on."""
    share = chosen.request.share
    return Shard(
        asked=chosen.options.asked(chosen.request.suite),
        number=share.number,
        of=share.of,
        rests_on=rests_on(chosen.suite, chosen.cases, chosen.variants, chosen.workspace),
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
    return suite, join(shards, rests_on(run.suite, run.cases, run.variants, run.workspace), digests, recorded)
