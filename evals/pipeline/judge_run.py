"""Score, compare and decide: from trials to a run with its verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from evals.cassettes import manifest
from evals.comparison import sides
from evals.comparison.assemble import assemble
from evals.comparison.baseline import with_blessed
from evals.comparison.summary import Material
from evals.installed_packages import Libraries
from evals.models.case import Case
from evals.models.run import DatasetBaseline, Reason, Run, SharedParts, Trial
from evals.models.trace import Trace
from evals.pipeline.changed_files import made_from
from evals.pipeline.load_run import LoadedSuite
from evals.prompt_history import usual_base, with_committed
from evals.runner.dependencies import ABSENT
from evals.runner.trial_cache import LIST
from evals.runner.trials import Trials, cassette_digests
from evals.scoring.registry import scorer_infos
from evals.scoring.score_trials import score_trials
from evals.workspace import Workspace

BLOCK: Final = 256
"""Trials scored at a time."""


def dataset_baselines(cases: Sequence[Case], workspace: Workspace) -> list[DatasetBaseline]:
    """What the primary endpoints come to on these cases without any model."""
    return workspace.pack.floors(cases, workspace)


def judge(chosen: LoadedSuite, trials: Trials) -> Run:
    """Score, compare and judge the trials of a suite, in the order they were replayed. The verdict is part of the run:
    what cannot be judged is said there, such as a cassette that is another file than the manifest lists.
    """
    traces = trials.traces
    replayed = {f"{case}.yaml": digest for case, digest in trials.recorded.items() if digest != ABSENT}
    others = manifest.unlisted(chosen.workspace.cassettes, replayed) if replayed else ()
    material = _material(chosen, _scored(chosen, traces), trials.recorded)
    place = chosen.workspace
    infos = with_committed(chosen.variants, place.root, usual_base(), place.pack)
    run = assemble(
        replace(
            material,
            variants=with_blessed(infos, chosen.baseline),
            dataset_baselines=dataset_baselines(chosen.cases, place),
            partial=(*material.partial, *others),
        )
    )
    run = _noted(run, chosen, trials.recorded)
    if chosen.suite.judge is None:
        return run
    from evals.pipeline.judge_stage import judged  # noqa: PLC0415 - loads LangChain

    return judged(run, chosen, traces)


def _noted(run: Run, chosen: LoadedSuite, recorded: Mapping[str, str]) -> Run:
    """The run with digests of what it is made from, and a note of each package that is not as the lock file has it."""
    run = run.model_copy(update={"digests": {**run.digests, **made_from(recorded, chosen.workspace)}})
    listed = Libraries(chosen.workspace.cache, LIST).listed()
    notes = [Reason(kind="note", text=text) for text in (listed.unlike if listed else ())]
    if not notes:
        return run
    verdict = run.verdict.model_copy(update={"reasons": (*run.verdict.reasons, *notes)})
    return run.model_copy(update={"verdict": verdict})


def may_have_broken(chosen: LoadedSuite, trials: Sequence[Trial], variant: str) -> bool:
    """Whether a case of these trials may count as broken under the variant: cheap, and right about a no. What a yes
    comes to is said by the run of the whole suite.
    """
    return sides.may_have_broken(
        _material(chosen, trials, cassette_digests(chosen.cases, chosen.workspace)),
        variant,
        scorer_infos(chosen.workspace.pack, chosen.suite.primary),
    )


def _material(chosen: LoadedSuite, trials: Sequence[Trial], recorded: Mapping[str, str]) -> Material:
    """What the selection and its scored trials say by themselves, without a look at git and the data; `recorded` has
    the digest of each case's cassette."""
    cassettes = {case: digest for case, digest in recorded.items() if digest != ABSENT}
    return Material(
        suite=chosen.suite,
        cases=chosen.cases,
        variants=chosen.variants,
        trials=trials,
        scope=chosen.scope,
        dataset_baselines=(),
        baseline=chosen.baseline,
        wants_baseline=chosen.wants_baseline,
        partial=chosen.options.partial,
        record_command=chosen.record_command,
        bless_command=chosen.bless_command,
        unblessed=chosen.unblessed,
        cassettes=cassettes,
        default_prompts=chosen.workspace.pack.default_prompts(),
        pack=chosen.workspace.pack,
        metrics=scorer_infos(chosen.workspace.pack, chosen.suite.primary),
    )


def _scored(chosen: LoadedSuite, traces: Sequence[Trace]) -> tuple[Trial, ...]:
    """The trials, a block at a time, so that the scores of thousands are never there before equal ones are shared."""
    shared = SharedParts()
    blocks = (traces[start : start + BLOCK] for start in range(0, len(traces), BLOCK))
    return tuple(
        shared.trial(trial) for block in blocks for trial in score_trials(chosen.by_id, block, chosen.workspace.pack)
    )
