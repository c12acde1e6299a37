"""Bless a run: its results become the baseline of the suite."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from evals.comparison.baseline import load_baseline, make_baseline, path_of, write_baseline
from evals.comparison.divergences import blessed_behaviour
from evals.comparison.gate_input import new_violations
from evals.errors import CannotJudgeError, ConfigurationError
from evals.models.run import AcceptedLoss, Run
from evals.models.suite import Suite
from evals.pipeline.decide_run import decide
from evals.prompt_versions import worker_prompts
from evals.recording.coverage import label_of
from evals.run_context import RunContext
from evals.runner.trials import Trials
from evals.shared.display_text import counted

REMEDIED: Final = ("no baseline", "not comparable", "changed", "note")
"""Kinds of reasons for which blessing is the remedy. Every other one would be hidden by a new baseline."""


@dataclass(frozen=True)
class SuiteBlessing:
    """What was blessed, where it stands, and the losses that were accepted with it."""

    run: Run
    path: Path
    losses: tuple[str, ...]


def bless(chosen: RunContext, trials: Trials, why: str | None = None) -> SuiteBlessing:
    """Write the baseline.

    Args:
        chosen: the suite, without a baseline.
        trials: its trials.
        why: the reason for blessing what is worse; kept in the file if anything is.

    Raises:
        CannotJudgeError: trials failed or are not recorded; a baseline with holes would hide regressions.
        ConfigurationError: something is worse, or cannot be compared with the baseline before, and no reason is given.
    """
    unblessed = replace(chosen, suite=_without_own_baseline(chosen.suite), baseline=None, wants_baseline=False)
    result = decide(unblessed, trials)
    if found := holes(result):
        raise CannotJudgeError(f"not blessed: {found[0]}")
    path = path_of(chosen.workspace.baselines, chosen.suite.name)
    lost = _losses_since(chosen, trials, path, result)
    if lost and not (why or "").strip():
        shown = "; ".join(lost[:3]) + (f"; and {len(lost) - 3} more" if len(lost) > 3 else "")
        raise ConfigurationError(
            f"not blessed, for it is worse or cannot be judged: {shown}; if that is meant, give the reason: "
            f'`{chosen.bless_command} --worse "why"`'
        )
    blessed = make_baseline(
        chosen.suite.name,
        chosen.cases,
        chosen.variants,
        result.trials,
        cassettes=result.cassettes,
        default_prompts=chosen.workspace.pack.default_prompts(),
        pack=chosen.workspace.pack,
        behaviour=blessed_behaviour(chosen.suite, result.scorers, result.trials),
    )
    accepted = AcceptedLoss(why=(why or "").strip(), losses=tuple(lost)) if lost else None
    place = chosen.workspace
    workers = worker_prompts(chosen.variants, place.root, place.pack)
    judged = {"judge": _judge_of(result)} if chosen.suite.judge is not None else {}
    write_baseline(path, blessed.model_copy(update={"accepted": accepted, "worker_prompts": workers, **judged}))
    return SuiteBlessing(result, path, tuple(lost))


def _without_own_baseline(suite: Suite) -> Suite:
    """The suite without limits that are a share of its own baseline, as those of a suite with one variant are."""
    if suite.candidate != suite.reference:
        return suite
    cost = {name: limit for name, limit in suite.gate.cost.items() if not isinstance(limit, str)}
    return suite.model_copy(update={"gate": suite.gate.model_copy(update={"cost": cost})})


def _judge_of(result: Run) -> dict[str, Any]:
    """What the suite's judge said."""
    from evals.llm_judge.judge_summary import blessed_judge  # noqa: PLC0415 - only where there is one
    from evals.models.judge import JudgedRun  # noqa: PLC0415 - as above

    return blessed_judge(result.judge).model_dump(mode="json") if isinstance(result, JudgedRun) else {}


def _losses_since(chosen: RunContext, trials: Trials, path: Path, alone: Run) -> list[str]:
    """What is worse than the baseline before and than the reference, in sentences."""
    try:
        before = load_baseline(path)
    except CannotJudgeError as error:
        return [f"nobody knows what, since the baseline cannot be read ({error})", *losses(alone)]
    is_new = before is None or not before.values.get(alone.candidate)
    violated = new_violations(alone.trials, alone.candidate, alone.reference) if is_new else []
    suite = chosen.suite if before else _without_own_baseline(chosen.suite)
    held = decide(replace(chosen, suite=suite, baseline=before, wants_baseline=True), trials)
    return [*losses(held), *violated]


def losses(result: Run) -> list[str]:
    """The reasons of a verdict that a new baseline would hide."""
    remedied = REMEDIED if _is_labelled(result) else (*REMEDIED, "nothing to judge")
    return [reason.text for reason in result.verdict.reasons if reason.kind not in remedied]


def _is_labelled(result: Run) -> bool:
    """Whether any metric decides; without, a run alone has nothing to be judged by, and is blessed all the same."""
    return any(info.primary for info in result.scorers)


def holes(result: Run) -> list[str]:
    """Why a run is no baseline. A variant nobody recorded has nothing to lose; one recorded in part would be held to
    all of it by the next run."""
    hollow = ["failed", "unread label", "coverage too low", *(["nothing to judge"] if _is_labelled(result) else [])]
    told = [reason.text for reason in result.verdict.reasons if reason.kind in hollow]
    traces = [trial.trace for trial in result.trials if trial.trace.provenance.label == "exact"]
    short = Counter(trace.variant for trace in traces if label_of(trace) != "exact")  # at decision points
    judged = (result.candidate, result.reference)
    return told + [
        f"{name} is recorded in {whole} of {mine.total} trials; record the rest, or take it out of the suite"
        for name, mine in result.coverage.items()
        if mine.exact > 0
        and (whole := mine.exact - (short[name] if name in judged else 0)) < mine.total * result.gate.coverage_floor
    ]


def kept_trials(result: Run) -> str:
    """How many trials are kept, and of which variants not all are."""
    exact = sum(mine.exact for mine in result.coverage.values())
    short = [f"{name} {mine.exact}/{mine.total}" for name, mine in result.coverage.items() if mine.exact < mine.total]
    return counted(exact, "trial") if not short else f"{exact} of {len(result.trials)} trials ({', '.join(short)})"
