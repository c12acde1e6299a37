"""The decisive step of failed trials: each is run again with one choice forced at a time, as far as it is recorded."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

from evals.errors import ConfigurationError
from evals.models.forced_decision import DecisiveStep, ForcedChoice, Result
from evals.models.metrics import Scored, Skipped
from evals.models.run import Trial, VariantInfo, trial_metrics
from evals.models.trace import Trace
from evals.routes.labelled_choices import labelled_choices
from evals.run_context import RunContext
from evals.runner.trials import TrialId, run_trials, trial_id
from evals.scoring.registry import deciding, score_trials

Choices = Mapping[TrialId, tuple[Trial, tuple[ForcedChoice, ...]]]
"""Failed trials by id, each with the choices to force in it."""


def with_decisive_steps(context: RunContext, trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """The trials, each failed one with its decisive step. Nothing is asked: what is not recorded stays unknown."""
    choices = _choices(context, trials)
    tried, metrics = _forced(context, choices), _metrics(context)
    traces = run_trials(tried).traces if tried.variants else ()
    scored = {trial_id(each.trace): each for each in score_trials(tried.by_id, traces, tried.pack)}
    found = {
        name: DecisiveStep(
            tried=tuple(_with_result(each, trial, scored[_forced_id(trial.trace, each)], metrics) for each in asked)
        )
        for name, (trial, asked) in choices.items()
    }
    return tuple(each.model_copy(update={"decisive": found.get(trial_id(each.trace))}) for each in trials)


def forced_trials(context: RunContext, traces: Sequence[Trace]) -> RunContext:
    """The context of the trials in which a labelled choice is forced, for all of these that fail. Raises
    ConfigurationError where there is none."""
    tried = _forced(context, _choices(context, score_trials(context.by_id, traces, context.pack)))
    if not tried.variants:
        raise ConfigurationError("no failed trial has a choice to force; `evals explain CASE` says why")
    return tried


def _choices(context: RunContext, trials: Sequence[Trial]) -> Choices:
    metrics = _metrics(context)
    failed = [trial for trial in trials if trial.trace.provenance.label == "exact" and _falls_short(trial, metrics)]
    return {
        trial_id(each.trace): (each, labelled_choices(context.by_id[each.trace.case_id], each.trace)) for each in failed
    }


def _forced(context: RunContext, choices: Choices) -> RunContext:
    """One variant for each variant, decision and choice."""
    known = {info.variant.name: info for info in context.variants}
    infos: dict[str, VariantInfo] = {}
    ids = set()
    for trial, asked in choices.values():
        for each in asked:
            ids.add(forced := _forced_id(trial.trace, each))
            made = trial.trace.decisions[each.decision]
            place = each.decision if trial.trace.is_target else made.iteration  # one decision may start several visits
            update = {"name": forced[1], "forced": {place: each.choice}}
            info = known[trial.trace.variant]
            infos[forced[1]] = info.model_copy(update={"variant": info.variant.model_copy(update=update)})
    every = frozenset(product(context.by_id, infos, range(context.suite.samples)))
    return replace(context, variants=tuple(infos.values()), skipped=every - ids)


def _metrics(context: RunContext) -> tuple[str, ...]:
    return trial_metrics(deciding(context.pack, context.suite.primary, context.cases))


def _falls_short(trial: Trial, metrics: Sequence[str]) -> bool:
    """Whether it is below 1 in a primary metric."""
    values = [each.value for name in metrics if isinstance(each := trial.outcomes.get(name), Scored)]
    return any(value < 1 for value in values)


def _forced_id(trace: Trace, each: ForcedChoice) -> TrialId:
    return trace.case_id, f"{trace.variant}, {each.choice} at decision {each.decision + 1}", trace.sample


def _with_result(each: ForcedChoice, failed: Trial, trial: Trial, metrics: Sequence[str]) -> ForcedChoice:
    """The forced choice with what became of its trial, in the metrics that the failed trial has a value in."""
    result, why = _result(each, failed, trial, metrics)
    route = trial.trace.route if result in ("passes", "fails", "not recorded") else ()
    return each.model_copy(update={"result": result, "why": why, "route": route})


def _result(each: ForcedChoice, failed: Trial, trial: Trial, metrics: Sequence[str]) -> tuple[Result, str]:
    trace, error = trial.trace, (trial.trace.error or "").removeprefix("ConfigurationError: ")
    made = trace.decisions[each.decision : each.decision + 1]
    if made and made[0].routed != each.choice:
        rule = next((f"{each.rule} sends it to {each.send_to}" for each in made[0].overrides), "")
        return "cannot be forced", rule or error or "it is not followed"
    if error:  # a node that fails after the choice was made belongs to the trial
        return ("fails" if made else "cannot be forced"), error
    if trace.provenance.label != "exact":
        return "not recorded", ""
    if _falls_short(trial, metrics):
        return "fails", ""
    for name in metrics:
        outcome = trial.outcomes[name]
        if isinstance(failed.outcomes.get(name), Scored) and not isinstance(outcome, Scored):
            reason = outcome.reason if isinstance(outcome, Skipped) else outcome.error
            return "cannot be judged", f"{name} has no value: {reason}"
    return "passes", ""
