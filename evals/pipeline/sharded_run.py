"""Trials of a run in shards: one share run and written, and all shards joined and decided."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from evals.atomic_files import new_report
from evals.errors import CannotJudgeError, ConfigurationError
from evals.models.run import Run
from evals.models.run_request import Options, RunRequest, Shard
from evals.models.trace import Trace
from evals.pipeline.decide_run import decide
from evals.pipeline.load_suite import loaded, selected, to_be_run
from evals.project import Project
from evals.report.run_files import read_shard, write_report, write_shard
from evals.run_context import Progress, RunContext
from evals.runner.trial_cache import differing, rests_on
from evals.runner.trials import TrialId, Trials, cassette_digests, run_trials, trial_digests, trial_id

Shards = Mapping[Path, Shard]
"""The shards by the files they were read from."""

_NAMED: Final = 8
"""Numbers of missing shards that are listed."""


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
    folder = request.folder(Project.at(request.root).reports)
    with new_report(folder):
        shards = {path: read_shard(path) for path in paths}
        check(shards)
        asked = next(iter(shards.values())).asked
        suite = selected(asked.suite, request.root, Options.of(asked))
        run = to_be_run(suite)
        recorded = cassette_digests(run.cases, run.workspace)
        digests = trial_digests(run, recorded=recorded)
        trials = join(shards, rests_on(run.suite, run.cases, run.variants, run.workspace), digests, recorded)
        result = decide(loaded(suite, request.today), trials)
        write_report(result, folder, request.root)
    return result, len(trials.traces)


def check(shards: Shards) -> None:
    """Whether the shards are those of one run, all of them, each once.

    Raises:
        ConfigurationError: shards of different runs, or one of them twice.
        CannotJudgeError: one is missing.
    """
    (first_path, first), *others = shards.items()
    for path, shard in others:
        if (shard.asked, shard.of) != (first.asked, first.of):
            raise ConfigurationError(
                f"{path}: of another run than {first_path} ({_what_differs(shard, first)}); merge the shards of one run"
            )
    by_number: dict[int, Path] = {}
    for path, shard in shards.items():
        if shard.number in by_number:
            raise ConfigurationError(
                f"{path}: is shard {shard.number} of {shard.of}, and so is {by_number[shard.number]}; name one of them"
            )
        by_number[shard.number] = path
    missing = [number for number in range(1, first.of + 1) if number not in by_number]
    if missing:
        listed = ", ".join(str(number) for number in missing[:_NAMED]) + (" ..." if len(missing) > _NAMED else "")
        raise CannotJudgeError(
            f"{len(missing)} of {first.of} shards missing: {listed}; "
            f"make each with `evals run {first.asked.suite} --shard {missing[0]}/{first.of}` and the same options"
        )


def join(
    shards: Shards, now: Mapping[str, str], trials: Mapping[TrialId, str], recorded: Mapping[str, str] | None = None
) -> Trials:
    """The traces of all shards, for the trials (with their digests) of the same selection made here, on cassettes of
    the digests `recorded`.

    Raises:
        CannotJudgeError: a shard rests on something else than this checkout, or does not hold what it should.
    """
    for path, shard in shards.items():
        changed = differing(shard.rests_on, now)
        if changed:
            raise CannotJudgeError(f"{path}: made with other {', '.join(changed)} than are here; make it anew")
    digests = {digest: trial for trial, digest in trials.items()}
    found: dict[TrialId, Trace] = {}
    for path, shard in shards.items():
        for digest, trace in shard.traces.items():
            trial = digests.get(digest)
            if trial != trial_id(trace) or trial in found:
                raise CannotJudgeError(f"{path}: holds a trial that is not of this shard; it was edited, make it anew")
            found[trial] = trace
    for trial in trials:
        if trial not in found:
            case, variant, sample = trial
            raise CannotJudgeError(
                f"no shard holds {case} under {variant}, sample {sample}: one of them was cut; make them anew"
            )
    return Trials(tuple(found[trial] for trial in trials), 0, tuple(trials.values()), recorded or {})


def _what_differs(one: Shard, other: Shard) -> str:
    """What the two were asked for differently, by name."""
    mine, theirs = ({**shard.asked.model_dump(), "number of shards": shard.of} for shard in (one, other))
    return ", ".join(f"{name}: {mine[name]}, not {theirs[name]}" for name in mine if mine[name] != theirs[name])
