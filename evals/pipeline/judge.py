"""Judge: finished trials scored, compared, and held against the suite's baseline."""

from collections.abc import Mapping, Sequence
from typing import Final

from evals.cassette import manifest
from evals.dataset.baselines import decision_baseline, route_baselines
from evals.dataset.codebase import materialise
from evals.dataset.word_search import root_cause_baselines
from evals.judging.assemble import assemble
from evals.judging.baseline import with_blessed
from evals.judging.material import Material
from evals.judging.scoring import score_trials
from evals.models.case import Case
from evals.models.run import Baseline, DatasetBaseline, Run, Scope, Trial
from evals.models.shared import Shared
from evals.models.trace import Trace
from evals.pipeline.select import Selected
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


def judge(
    chosen: Selected, scope: Scope, traces: Sequence[Trace], baseline: Baseline | None, *, wants_baseline: bool
) -> Run:
    """Score, compare and judge; `wants_baseline` says whether a missing one keeps the run from being judged. It
    cannot be judged where a cassette is another file than the manifest lists.
    """
    sound = all(trace.provenance.label == "exact" for trace in traces)  # one that is not says itself why
    names = {f"{case.id}.yaml" for case in chosen.cases}
    others = manifest.others(chosen.workspace.cassettes, names) if sound else ()
    run = assemble(
        Material(
            suite=chosen.suite,
            cases=chosen.cases,
            variants=with_blessed(with_committed(chosen.variants, chosen.workspace.root, usual_base()), baseline),
            trials=_scored(chosen.by_id, traces),
            scope=scope,
            dataset_baselines=dataset_baselines(chosen.cases, chosen.workspace),
            baseline=baseline,
            wants_baseline=wants_baseline,
            partial=(*chosen.options.partial, *others),
            record_command=chosen.record_command,
            bless_command=chosen.bless_command,
            unblessed=chosen.unblessed,
        )
    )
    if chosen.suite.judge is None:
        return run
    from evals.pipeline.judged import judged  # noqa: PLC0415 - loads LangChain

    return judged(run, chosen, traces)


def _scored(cases: Mapping[str, Case], traces: Sequence[Trace]) -> tuple[Trial, ...]:
    """The trials, a block at a time, so that the scores of thousands are never there before equal ones are shared."""
    shared = Shared()
    blocks = (traces[start : start + BLOCK] for start in range(0, len(traces), BLOCK))
    return tuple(shared.trial(trial) for block in blocks for trial in score_trials(cases, block))
