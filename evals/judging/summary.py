"""One line per variant and score: the mean, its interval, and what it rests on."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from evals.judging.frozen import State, state_grades, unanswered_states
from evals.models.case import Case
from evals.models.outcome import Failed, Scored, Skipped
from evals.models.run import CaseInfo, Coverage, ScorerInfo, Summary, Trial
from evals.stats.intervals import Interval, fraction_interval, mean, mean_interval
from evals.stats.macro import macro_interval, macro_mean

SEED: Final = 20_260_101
"""Fixed, so that the same run prints the same intervals."""


def coverage_of(trials: Sequence[Trial], variant: str) -> Coverage:
    """Count a variant's trials by what they rest on."""
    labels = [trial.trace.provenance.label for trial in trials if trial.trace.variant == variant]
    return Coverage(
        exact=labels.count("exact"),
        frontier=labels.count("frontier"),
        unrecorded=labels.count("unrecorded"),
        failed=labels.count("failed"),
    )


def case_means(trials: Sequence[Trial], variant: str, scorer: str) -> dict[str, float]:
    """Case id -> mean of its scored samples, in order of case id."""
    collected: dict[str, list[float]] = {}
    for trial in trials:
        outcome = trial.outcomes.get(scorer)
        if trial.trace.variant == variant and isinstance(outcome, Scored):
            collected.setdefault(trial.trace.case_id, []).append(outcome.value)
    return {case: sum(values) / len(values) for case, values in sorted(collected.items())}


def summarise(
    trials: Sequence[Trial],
    cases: Sequence[Case] | Sequence[CaseInfo],
    variants: Sequence[str],
    scorers: Sequence[ScorerInfo],
) -> tuple[Summary, ...]:
    """Every score of every variant."""
    return tuple(_summary(trials, cases, variant, scorer) for variant in variants for scorer in scorers)


class _Estimate(NamedTuple):
    """A mean over `n` cases, and what it would be with the rest at its (worst, best)."""

    n: int
    mean: float | None
    interval: Interval | None
    bounds: tuple[float, float] | None
    hits: int | None = None


def _summary(
    trials: Sequence[Trial], cases: Sequence[Case] | Sequence[CaseInfo], variant: str, scorer: ScorerInfo
) -> Summary:
    mine = [trial.outcomes[scorer.name] for trial in trials if trial.trace.variant == variant]
    found = (_over_gold_nodes if scorer.macro else _over_cases)(trials, cases, variant, scorer)
    low, high = found.interval or (None, None)
    lowest, highest = found.bounds or (None, None)
    higher = scorer.better == "higher"
    return Summary(
        variant=variant,
        scorer=scorer.name,
        n=found.n,
        total=len(cases),
        mean=found.mean,
        low=low,
        high=high,
        hits=found.hits,
        pessimistic=lowest if higher else highest,
        optimistic=highest if higher else lowest,
        skipped=sum(isinstance(outcome, Skipped) for outcome in mine),
        failed=sum(isinstance(outcome, Failed) for outcome in mine),
    )


def _over_cases(
    trials: Sequence[Trial], cases: Sequence[Case] | Sequence[CaseInfo], variant: str, scorer: ScorerInfo
) -> _Estimate:
    """The mean over cases."""
    clusters = {case.id: case.cluster for case in cases}
    means = case_means(trials, variant, scorer.name)
    values = list(means.values())
    share = scorer.unit == "fraction"
    hits = sum(value == 1 for value in values) if share and values and _all_or_nothing(values) else None
    interval = (fraction_interval if share else mean_interval)(values, [clusters[case] for case in means])
    unknown = open_cases(trials, variant, scorer.name)
    bounds = _bounds({State(case): value for case, value in means.items()}, unknown) if share else None
    return _Estimate(len(values), mean(values), interval, bounds, hits)


def _over_gold_nodes(
    trials: Sequence[Trial], cases: Sequence[Case] | Sequence[CaseInfo], variant: str, scorer: ScorerInfo
) -> _Estimate:
    """The macro-average over gold nodes."""
    by_id = {case.id: case for case in cases}
    grades = state_grades(trials, by_id, variant, scorer.name)
    values, nodes = list(grades.values()), [state.gold for state in grades]
    clusters = [by_id[state.case_id].cluster for state in grades]
    interval = macro_interval(values, nodes, clusters)
    unknown = unanswered_states(trials, by_id, variant, scorer.name)
    answered = len({state.case_id for state in grades})
    return _Estimate(answered, macro_mean(values, nodes), interval, _bounds(grades, unknown))


def _bounds(known: Mapping[State, float], unknown: Mapping[State, float]) -> tuple[float, float] | None:
    """The mean with all the rest at 0, and at 1, every gold node counted alike; None for an empty sample."""
    states = [*dict.fromkeys((*known, *unknown))]
    worst = [known.get(state, 0.0) * (1 - unknown.get(state, 0.0)) for state in states]
    best = [least + unknown.get(state, 0.0) for state, least in zip(states, worst, strict=True)]
    low, high = (macro_mean(values, [state.gold for state in states]) for values in (worst, best))
    return (low, high) if low is not None and high is not None else None


def _all_or_nothing(values: Sequence[float]) -> bool:
    return all(value in (0, 1) for value in values)


def open_cases(trials: Sequence[Trial], variant: str, scorer: str) -> dict[State, float]:
    """Cases whose score is unknown because the tape ran out, not because the score does not apply: each with the share
    of its samples (above 0, up to 1) that is."""
    asked: dict[str, list[bool]] = {}
    for trial in trials:
        lost = not isinstance(trial.outcomes.get(scorer), Scored)
        if trial.trace.variant == variant and not (lost and trial.trace.provenance.label == "exact"):
            asked.setdefault(trial.trace.case_id, []).append(lost)
    return {State(case): sum(lost) / len(lost) for case, lost in sorted(asked.items()) if any(lost)}
