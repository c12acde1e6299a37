"""Score, compare and decide: from trials to a run with its verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from evals.cassettes import manifest
from evals.comparison import comparison_pairs
from evals.comparison.assemble_run import assemble
from evals.comparison.baseline import with_blessed
from evals.comparison.comparison_pairs import Compared
from evals.comparison.divergences import unknown_fields
from evals.comparison.metric_summaries import Material
from evals.models.run import Reason, Run, SharedParts, Trial
from evals.models.trace import Trace
from evals.package_digests import Libraries
from evals.pipeline.kept_verdict import made_from
from evals.prompt_versions import edited_prompts, usual_base, with_committed
from evals.recording.failed_trials import failed_trials
from evals.run_context import RunContext
from evals.runner.trial_cache import ABSENT, LIST
from evals.runner.trials import Trials, cassette_digests
from evals.scoring.registry import deciding, score_trials

BLOCK: Final = 256
"""Trials scored at a time."""


def decide(context: RunContext, trials: Trials) -> Run:
    """Score, compare and decide, without writing anything. The verdict is part of the run: what keeps it from being
    decided is said there, such as a cassette that is another file than the manifest lists.
    """
    scored = score(context, trials)
    return decide_scored(context, trials, scored, compare(scored))


def score(context: RunContext, trials: Trials) -> Material:
    """Every scorer applied to every trial, in the order they were replayed."""
    place = context.workspace
    replayed = {f"{case}.yaml": digest for case, digest in trials.recorded.items() if digest != ABSENT}
    others = manifest.unlisted(place.cassettes, replayed) if replayed else ()
    infos = with_committed(context.variants, place.root, usual_base(), place.pack)
    return replace(
        _material(context, _scored(context, trials.traces), trials.recorded),
        variants=with_blessed(infos, context.baseline),
        edited_prompts=edited_prompts(infos, place.root, usual_base(), place.pack, context.baseline),
        dataset_baselines=place.pack.floors(context.cases, place),
        partial=(*context.options.partial, *others),
        unread_labels=(
            *place.pack.label_errors(context.cases, context.suite.variants, trials.traces),
            *unknown_fields(context.suite.as_blessed, trials.traces),
        ),
    )


def compare(scored: Material) -> Compared:
    """Variants paired by case: with the reference, and with the baseline."""
    return comparison_pairs.compared(scored, tuple(scored.metrics))


def decide_scored(context: RunContext, trials: Trials, scored: Material, found: Compared) -> Run:
    """The run with its verdict, and with what the suite's judge says."""
    run = _noted(assemble(scored, found), context, trials.recorded)
    if context.suite.judge is None:
        return run
    from evals.pipeline.judge_stage import judged  # noqa: PLC0415 - loads LangChain

    return judged(run, context, trials.traces)


def _noted(run: Run, context: RunContext, recorded: Mapping[str, str]) -> Run:
    """The run with digests of what it is made from, and a note of each package that is not as the lock file has it."""
    run = run.model_copy(update={"digests": {**run.digests, **made_from(recorded, context)}})
    listed = Libraries(context.workspace.cache, LIST).listed()
    notes = [Reason(kind="note", text=text) for text in (listed.unlike if listed else ())]
    if not notes:
        return run
    verdict = run.verdict.model_copy(update={"reasons": (*run.verdict.reasons, *notes)})
    return run.model_copy(update={"verdict": verdict})


def may_have_broken(context: RunContext, trials: Sequence[Trial], variant: str) -> bool:
    """Whether a case of these trials may count as broken under the variant: cheap, and right about a no. What a yes
    comes to is said by the run of the whole suite.
    """
    return comparison_pairs.may_have_broken(
        _material(context, trials, cassette_digests(context.cases, context.workspace)),
        variant,
        deciding(context.workspace.pack, context.suite.primary, context.cases),
    )


def _material(context: RunContext, trials: Sequence[Trial], recorded: Mapping[str, str]) -> Material:
    """What the selection and its scored trials say by themselves, without a look at git and the data; `recorded` has
    the digest of each case's cassette."""
    cassettes = {case: digest for case, digest in recorded.items() if digest != ABSENT}
    return Material(
        suite=context.suite,
        cases=context.cases,
        variants=context.variants,
        trials=trials,
        scope=context.scope,
        dataset_baselines=(),
        baseline=context.baseline,
        wants_baseline=context.wants_baseline,
        partial=context.options.partial,
        record_command=context.record_command,
        bless_command=context.bless_command,
        unblessed=context.unblessed,
        cassettes=cassettes,
        default_prompts=context.workspace.pack.default_prompts(),
        pack=context.workspace.pack,
        failed_recordings=failed_trials(context.workspace.cache),
        metrics=deciding(context.workspace.pack, context.suite.primary, context.cases),
    )


def _scored(context: RunContext, traces: Sequence[Trace]) -> tuple[Trial, ...]:
    """The trials, a block at a time, so that the scores of thousands are never there before equal ones are shared."""
    shared = SharedParts()
    blocks = (traces[start : start + BLOCK] for start in range(0, len(traces), BLOCK))
    return tuple(
        shared.trial(trial) for block in blocks for trial in score_trials(context.by_id, block, context.workspace.pack)
    )
