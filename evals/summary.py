"""One line per variant and score: the mean, its interval, and what it rests on."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from evals.models.case import Case
from evals.models.outcome import Failed, Scored, Skipped
from evals.models.run import CaseInfo, Coverage, ScorerInfo, Summary, Trial
from evals.stats.intervals import Interval, bootstrap_mean, wilson

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
    clusters = {case.id: case.cluster for case in cases}
    return tuple(_summary(trials, clusters, variant, scorer) for variant in variants for scorer in scorers)


def _summary(trials: Sequence[Trial], clusters: dict[str, str], variant: str, scorer: ScorerInfo) -> Summary:
    means = case_means(trials, variant, scorer.name)
    values = list(means.values())
    mine = [trial.outcomes[scorer.name] for trial in trials if trial.trace.variant == variant]
    hits = sum(value == 1 for value in values) if values and all(value in (0, 1) for value in values) else None
    interval = _interval(values, [clusters[case] for case in means], hits, scorer)
    open_cases = _open_cases(trials, variant, scorer.name)
    return Summary(
        variant=variant,
        scorer=scorer.name,
        n=len(values),
        total=len(clusters),
        mean=sum(values) / len(values) if values else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        hits=hits if scorer.unit == "fraction" else None,
        pessimistic=_bound(values, open_cases, scorer, best=False),
        optimistic=_bound(values, open_cases, scorer, best=True),
        skipped=sum(isinstance(outcome, Skipped) for outcome in mine),
        failed=sum(isinstance(outcome, Failed) for outcome in mine),
    )


def _interval(
    values: Sequence[float], clusters: Sequence[str], hits: int | None, scorer: ScorerInfo
) -> Interval | None:
    if hits is not None and scorer.unit == "fraction":
        return wilson(hits, len(values))
    return bootstrap_mean(values, clusters, np.random.default_rng(SEED))


def _open_cases(trials: Sequence[Trial], variant: str, scorer: str) -> int:
    """Cases whose score is unknown because the tape ran out, not because the score does not apply."""
    scored = set(case_means(trials, variant, scorer))
    off_tape = {
        trial.trace.case_id
        for trial in trials
        if trial.trace.variant == variant and trial.trace.provenance.label != "exact"
    }
    return len(off_tape - scored)


def _bound(values: Sequence[float], unknown: int, scorer: ScorerInfo, *, best: bool) -> float | None:
    if scorer.unit != "fraction" or not len(values) + unknown:
        return None
    assumed = 1.0 if (scorer.better == "higher") == best else 0.0
    return (sum(values) + unknown * assumed) / (len(values) + unknown)
