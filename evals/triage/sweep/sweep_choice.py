"""Sweep one variant over a grid of settings: choose one on `tune` and confirm it on `gate`."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import fmean
from typing import Final

from evals.application_pack import load_pack
from evals.comparison.metric_summaries import case_means, coverage_of, summarise
from evals.comparison.paired_comparison import compare
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK, EXIT_WORSE, ConfigurationError
from evals.models.case import Case, Split
from evals.models.metrics import Scored
from evals.models.run import Comparison, ScorerInfo, Trial, VariantInfo
from evals.models.suite import GatePolicy, Variant
from evals.pipeline.load_suite import scored
from evals.run_context import RunContext
from evals.scoring.registry import score_trials, scorer_infos
from evals.triage.sweep.sweep_result import (
    CHOSEN_ON,
    CONFIRMED_ON,
    Behaviour,
    GridPoint,
    Recommendation,
    SplitSummary,
    Sweep,
)
from evals.triage.sweep.sweep_run import GUARD_SETS, Explored, execute, grid, numbers, point_of
from evals.triage.variant_prompts import configuration_of
from evals.triage.variant_settings import settings_of

Trials = Mapping[str, tuple[Trial, ...]]
"""Behaviour -> its trials, one per case."""


def behaviours(
    cases: Mapping[str, Case], points: Sequence[GridPoint], explored: Sequence[Explored], scorer: ScorerInfo
) -> tuple[tuple[Behaviour, ...], Trials]:
    """The behaviours in order of their first point, and the trials each of them rests on."""
    judged = [score_trials(cases, case.traces) for case in explored]
    alike: dict[tuple[int, ...], list[GridPoint]] = defaultdict(list)
    for number, point in enumerate(points):
        alike[tuple(case.which[number] for case in explored)].append(point)
    trials = {
        same[0].name: tuple(_under(same[0].name, judged[case][trace]) for case, trace in enumerate(which))
        for which, same in alike.items()
    }
    found = tuple(
        Behaviour(
            name=same[0].name, points=tuple(same), splits=_splits(cases, trials[same[0].name], same[0].name, scorer)
        )
        for same in alike.values()
    )
    return found, trials


def _under(name: str, trial: Trial) -> Trial:
    return trial.model_copy(update={"trace": trial.trace.model_copy(update={"variant": name})})


def _splits(
    cases: Mapping[str, Case], trials: Sequence[Trial], name: str, scorer: ScorerInfo
) -> dict[Split, SplitSummary]:
    by_split: dict[Split, list[Trial]] = defaultdict(list)
    for trial in trials:
        by_split[cases[trial.trace.case_id].labels.split].append(trial)
    return {split: _summary(cases, mine, name, scorer) for split, mine in sorted(by_split.items())}


def _summary(cases: Mapping[str, Case], trials: Sequence[Trial], name: str, scorer: ScorerInfo) -> SplitSummary:
    mine = [cases[trial.trace.case_id] for trial in trials]
    exact = [trial for trial in trials if trial.trace.provenance.label == "exact"]
    return SplitSummary(
        coverage=coverage_of(trials, name),
        score=summarise(trials, mine, (name,), (scorer,))[0],
        visits=_mean([float(len(trial.trace.visits)) for trial in exact]),
        questions=_mean([float(len(trial.trace.exchanges)) for trial in exact]),
        vetoes=_mean([float(sum(len(one.overrides) for one in trial.trace.decisions)) for trial in exact]),
        llm_calls=_mean(_values(exact, "cost.llm_calls")),
        tokens=_mean(_values(exact, "cost.tokens")),
    )


def _values(trials: Sequence[Trial], scorer: str) -> list[float]:
    outcomes = (trial.outcomes.get(scorer) for trial in trials)
    return [outcome.value for outcome in outcomes if isinstance(outcome, Scored)]


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


_SAME: Final = 1e-9


def eligible(behaviours: Sequence[Behaviour], floor: float) -> list[Behaviour]:
    """Those recorded on `tune` for the share of trials the policy demands, and scored there."""
    return [
        one
        for one in behaviours
        if (summary := one.splits.get(CHOSEN_ON)) and summary.share >= floor and summary.score.mean is not None
    ]


def front(candidates: Sequence[Behaviour]) -> list[Behaviour]:
    """The Pareto front on `tune`: nothing else scores as well for fewer model calls, or better for as many; cheapest
    first. Of equals the first stays."""
    kept: list[Behaviour] = []
    for one in sorted(candidates, key=lambda one: (_calls(one), -_score(one))):  # stable: the present one comes first
        if not kept or _score(one) > _score(kept[-1]) + _SAME:
            kept.append(one)
    return kept


def best(candidates: Sequence[Behaviour]) -> Behaviour:
    """The highest score on `tune`; of equals the one with fewest model calls, then the first."""
    top = max(_score(one) for one in candidates)
    return min((one for one in candidates if _score(one) >= top - _SAME), key=_calls)


def recommend(
    behaviours: Sequence[Behaviour], trials: Trials, cases: Mapping[str, Case], scorer: str, policy: GatePolicy
) -> Recommendation:
    """The choice with its confirmation; the first behaviour holds the present setting.

    Status: recommended (0), not confirmed (1: worse on `gate` than the present setting, beyond chance), cannot
    recommend (3: recordings or suite do not reach, or no two recorded behaviours differ).
    """
    candidates = eligible(behaviours, policy.coverage_floor)
    if not candidates:
        return _cannot(f"coverage: no setting is recorded for enough of the {CHOSEN_ON} cases")
    chosen, present = best(candidates), behaviours[0]
    held = chosen.splits.get(CONFIRMED_ON)
    if held is None:
        return _cannot(f"the suite has no {CONFIRMED_ON} case to confirm {chosen.name} on")
    if held.share < policy.coverage_floor or held.score.mean is None:
        return _cannot(f"coverage: {chosen.name}, best on {CHOSEN_ON}, is not recorded for enough {CONFIRMED_ON} cases")
    if same := _no_choice(behaviours, candidates, chosen, scorer):
        return _cannot(f"nothing to choose between: {same}")
    against = None if chosen is present else _compared(chosen, present, trials, cases, scorer, policy)
    if against is not None and against.delta is None:
        return _cannot(f"coverage: no {CONFIRMED_ON} case has both {chosen.name} and the present {present.name}")
    worse = against is not None and against.verdict == "regression"
    told = f"{scorer} {_score_in_words(held)} on {held.score.n} {CONFIRMED_ON} cases{_against(against)}"
    rests = f"chosen on {CHOSEN_ON} among {len(candidates)} of {len(behaviours)} behaviours that are recorded"
    verb = "Do not move to" if worse else "Stay at" if chosen is present else "Work at"
    return Recommendation(
        status="not confirmed" if worse else "recommended",
        exit_code=EXIT_WORSE if worse else EXIT_OK,
        sentence=f"{verb} {chosen.name}: {told}; {rests}.",
        behaviour=chosen.name,
        comparison=against,
    )


def _no_choice(behaviours: Sequence[Behaviour], candidates: Sequence[Behaviour], chosen: Behaviour, scorer: str) -> str:
    """Why there is nothing to choose; empty where recorded behaviours differ by half a point, or the chosen one
    needs at most 95 % of the model calls."""
    if len(candidates) == 1:
        others = f"{len(behaviours) - 1} more are not recorded" if len(behaviours) > 1 else "all points behave alike"
        return f"{chosen.name} is the only recorded behaviour, {others}"
    scores = [_score(one) for one in candidates]
    cheaper = behaviours[0] in candidates and _calls(chosen) <= 0.95 * _calls(behaviours[0])
    if max(scores) - min(scores) < 0.005 and not cheaper:
        return f"all {len(candidates)} recorded behaviours reach the same {scorer} on {CHOSEN_ON}, within half a point"
    return ""


def _cannot(why: str) -> Recommendation:
    return Recommendation(
        status="cannot recommend", exit_code=EXIT_CANNOT_JUDGE, sentence=f"Cannot recommend a setting: {why}."
    )


def _compared(
    chosen: Behaviour,
    present: Behaviour,
    trials: Trials,
    cases: Mapping[str, Case],
    scorer: str,
    policy: GatePolicy,
) -> Comparison:
    """The choice against the present setting, on the cases that had no part in choosing."""
    mine, theirs = (
        {
            case: value
            for case, value in case_means(trials[one.name], one.name, scorer).items()
            if cases[case].labels.split == CONFIRMED_ON
        }
        for one in (chosen, present)
    )
    clusters = {case.id: case.cluster for case in cases.values()}
    return compare({(chosen.name, present.name): {scorer: (mine, theirs)}}, clusters, "reference", policy)[0]


def _score_in_words(summary: SplitSummary) -> str:
    score = summary.score
    known = (
        f" [{100 * score.low:.0f}, {100 * score.high:.0f}]" if score.low is not None and score.high is not None else ""
    )
    return f"{100 * _score_of(summary):.0f} %{known}"


def _against(item: Comparison | None) -> str:
    if item is None:
        return ", and no other recorded setting scores better"
    if item.delta is None:
        return f", nothing to compare with {item.right}"
    known = (
        f" [{item.low * 100:+.0f}, {item.high * 100:+.0f}]" if item.low is not None and item.high is not None else ""
    )
    return f", {item.delta * 100:+.0f} points{known} against {item.right} ({item.verdict})"


def _score(one: Behaviour) -> float:
    return _score_of(one.splits[CHOSEN_ON])


def _score_of(summary: SplitSummary) -> float:
    return summary.score.mean if summary.score.mean is not None else float("-inf")


def _calls(one: Behaviour) -> float:
    calls = one.splits[CHOSEN_ON].llm_calls
    return calls if calls is not None else float("inf")


@dataclass(frozen=True)
class Axes:
    """The grid as it was typed."""

    single: str
    corroborated: str
    min_findings: str
    guards: str | None


def swept(
    chosen: RunContext, axes: Axes, score: str, *, jobs: int, today: date, progress: Callable[[Explored], None]
) -> Sweep:
    """Every point of the grid tried on every case, and what is recommended; `progress` is told of each case.

    Raises:
        ConfigurationError: the variant, the grid or the score is none.
    """
    info, scorer = _varied(chosen), _scorer(score)
    points = grid(
        point_of(info.variant),
        numbers(axes.single, "--single"),
        numbers(axes.corroborated, "--corroborated"),
        numbers(axes.min_findings, "--min-findings"),
        _guards(axes.guards, info.variant),
    )
    chosen = scored(chosen, today)
    explored = execute(chosen.cases, info, points, chosen.workspace, jobs=jobs, progress=progress)
    found, trials = behaviours(chosen.by_id, points, explored, scorer)
    return Sweep(
        suite=chosen.suite.name,
        variant=info.variant.name,
        present=points[0].name,
        score=score,
        coverage_floor=chosen.suite.gate.coverage_floor,
        recorded_by=_answered_by(explored),
        cases=dict(Counter(case.labels.split for case in chosen.cases)),
        points=len(points),
        executed=sum(len(case.traces) for case in explored),
        behaviours=found,
        front=tuple(one.name for one in front(eligible(found, chosen.suite.gate.coverage_floor))),
        recommendation=recommend(found, trials, chosen.by_id, score, chosen.suite.gate),
    )


def _varied(chosen: RunContext) -> VariantInfo:
    """The one variant whose settings are varied: the suite's candidate, or the one that `--variant` names."""
    if len(chosen.variants) > 1 and chosen.options.variants:
        raise ConfigurationError("a sweep varies one variant; name a single --variant")
    wanted = chosen.variants[0].variant.name if chosen.options.variants else chosen.suite.candidate
    return next(info for info in chosen.variants if info.variant.name == wanted)


def _scorer(name: str) -> ScorerInfo:
    fit = {one.name: one for one in scorer_infos(load_pack()) if one.unit == "fraction" and one.better == "higher"}
    if name not in fit:
        raise ConfigurationError(f"--score {name}: choose one of {', '.join(fit)}")
    return fit[name]


def _guards(names: str | None, variant: Variant) -> list[str]:
    """The guard sets to try; `all` is every one there is."""
    chosen = [settings_of(variant).guards] if names is None else [*GUARD_SETS] if names == "all" else names.split(",")
    for one in chosen:
        configuration_of(variant.model_copy(update={"guards": one}))
    return chosen


def _answered_by(explored: list[Explored]) -> tuple[str, ...]:
    return tuple(
        sorted({call.model for case in explored for trace in case.traces for call in trace.calls if call.model})
    )
