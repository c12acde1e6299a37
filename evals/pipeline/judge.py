"""Judge: finished trials scored, compared, and held against the suite's baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from evals.cassette import manifest
from evals.dataset.baselines import decision_baseline, route_baselines
from evals.dataset.codebase import materialise
from evals.dataset.word_search import root_cause_baselines
from evals.judging import sides
from evals.judging.assemble import assemble
from evals.judging.baseline import with_blessed
from evals.judging.material import Material
from evals.judging.scoring import score_trials, scorer_infos
from evals.libraries import Libraries
from evals.models.case import Case
from evals.models.run import DatasetBaseline, Reason, Run, Trial
from evals.models.shared import Shared
from evals.models.trace import Trace
from evals.pipeline.load import LoadedSuite
from evals.pipeline.since import made_from
from evals.runner.digests import ABSENT
from evals.runner.keeper import LIST
from evals.runner.pool import Trials, cassette_digests
from evals.subject.prompt import default_prompts
from evals.subject.prompt_changes import usual_base
from evals.subject.prompt_committed import with_committed
from evals.workspace import Workspace

BLOCK: Final = 256
"""Trials scored at a time."""


def dataset_baselines(cases: Sequence[Case], workspace: Workspace) -> list[DatasetBaseline]:
    """What the primary endpoints come to on these cases without any model."""
    causes = root_cause_baselines(
        cases, lambda case: materialise(case, workspace.datasets, workspace.cache), workspace.cache
    )
    return [*route_baselines(cases, workspace.cache), *causes, *decision_baseline(cases)]


def judge(chosen: LoadedSuite, trials: Trials) -> Run:
    """Score, compare and judge the trials of a suite, in the order they were replayed. The verdict is part of the run:
    what cannot be judged is said there, such as a cassette that is another file than the manifest lists.
    """
    traces = trials.traces
    replayed = {f"{case}.yaml": digest for case, digest in trials.recorded.items() if digest != ABSENT}
    others = manifest.unlisted(chosen.workspace.cassettes, replayed) if replayed else ()
    material = _material(chosen, _scored(chosen.by_id, traces), trials.recorded)
    run = assemble(
        replace(
            material,
            variants=with_blessed(
                with_committed(chosen.variants, chosen.workspace.root, usual_base()), chosen.baseline
            ),
            dataset_baselines=dataset_baselines(chosen.cases, chosen.workspace),
            partial=(*material.partial, *others),
        )
    )
    run = _noted(run, chosen, trials.recorded)
    if chosen.suite.judge is None:
        return run
    from evals.pipeline.judged import judged  # noqa: PLC0415 - loads LangChain

    return judged(run, chosen, traces)


def _noted(run: Run, chosen: LoadedSuite, recorded: Mapping[str, str]) -> Run:
    """The run with digests of what it is made from, and a note of each package that is not as the lock file has it."""
    run = run.model_copy(update={"digests": {**run.digests, **made_from(recorded)}})
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
        _material(chosen, trials, cassette_digests(chosen.cases, chosen.workspace)), variant, scorer_infos()
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
        default_prompts=default_prompts(),
    )


def _scored(cases: Mapping[str, Case], traces: Sequence[Trace]) -> tuple[Trial, ...]:
    """The trials, a block at a time, so that the scores of thousands are never there before equal ones are shared."""
    shared = Shared()
    blocks = (traces[start : start + BLOCK] for start in range(0, len(traces), BLOCK))
    return tuple(shared.trial(trial) for block in blocks for trial in score_trials(cases, block))
