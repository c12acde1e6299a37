"""What a baseline's numbers come to: the summaries its own run would have printed, with the same intervals."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from evals.history.bootstrap import Row, graded_intervals
from evals.history.labels import Key, Labels
from evals.history.stored import Scores, Stored
from evals.judging.summary import SEED
from evals.models.run import ScorerInfo, Summary
from evals.stats.intervals import Interval, bootstrap_mean, wilson
from evals.stats.macro import macro_mean

States = tuple[tuple[str, str, str], ...]
"""(case, gold node, cluster) of every state, in order."""


def estimates(
    baselines: Sequence[Stored], labels: Mapping[Key, Labels | None], scorers: Sequence[ScorerInfo]
) -> list[tuple[Summary, ...]]:
    """The summaries of each baseline: every score of every variant; endpoints with intervals, costs as plain means."""
    known = [{name: _states(stored, name, labels) for name in stored.variants} for stored in baselines]
    together: dict[States, list[Row]] = {}
    for told in known:
        for states, row in filter(None, told.values()):
            together.setdefault(states, []).append(row)
    intervals = {
        states: graded_intervals(rows, [gold for _, gold, _ in states], [cluster for *_, cluster in states])
        for states, rows in together.items()
    }
    return [
        tuple(
            _macro(stored, name, scorer, told[name], intervals)
            if scorer.macro
            else _over_cases(stored, name, scorer, labels)
            for name in stored.variants
            for scorer in scorers
        )
        for stored, told in zip(baselines, known, strict=True)
    ]


def unknown_gold(stored: Stored, summaries: Sequence[Summary], labels: Mapping[Key, Labels | None]) -> list[str]:
    """The cases whose labels git does not show as they were, so that what their states are worth was left unsaid."""
    unsaid = {one.variant for one in summaries if one.mean is None}
    return sorted(
        {
            case
            for variant in unsaid & stored.states.keys()
            for case, points in stored.states[variant].items()
            if _labels(stored, case, points, labels) is None
        }
    )


def _states(stored: Stored, variant: str, labels: Mapping[Key, Labels | None]) -> tuple[States, Row] | None:
    """The states of a variant and their grades; None where there are none, or not all of their labels are known."""
    states: list[tuple[str, str, str]] = []
    grades: list[float] = []
    for case, points in stored.states.get(variant, {}).items():
        told = _labels(stored, case, points, labels)
        if told is None:
            return None
        states += [(case, told.gold[point], told.cluster) for point in points]
        grades += points.values()
    return (tuple(states), tuple(grades)) if states else None


def _labels(stored: Stored, case: str, points: Scores, labels: Mapping[Key, Labels | None]) -> Labels | None:
    """The labels of a case, if they know all of the points."""
    told = labels.get((case, stored.cases.get(case, "")))
    return told if told is not None and told.gold.keys() >= points.keys() else None


def _macro(
    stored: Stored,
    variant: str,
    scorer: ScorerInfo,
    told: tuple[States, Row] | None,
    intervals: Mapping[States, Mapping[Row, Interval | None]],
) -> Summary:
    if told is None:
        return _summary(stored, variant, scorer, 0, None, None)
    states, row = told
    mean = macro_mean(row, [gold for _, gold, _ in states])
    return _summary(stored, variant, scorer, len({case for case, *_ in states}), mean, intervals[states][row])


def _over_cases(stored: Stored, variant: str, scorer: ScorerInfo, labels: Mapping[Key, Labels | None]) -> Summary:
    scores = stored.scores.get((variant, scorer.name), {})
    values = tuple(scores.values())
    mean = sum(values) / len(values) if values else None
    if not scorer.primary or not values:
        return _summary(stored, variant, scorer, len(values), mean, None)
    if all(value in (0, 1) for value in values):
        hits = sum(value == 1 for value in values)
        return _summary(stored, variant, scorer, len(values), mean, wilson(hits, len(values)), hits)
    clusters = tuple(_cluster(stored, case, labels) for case in scores)
    return _summary(stored, variant, scorer, len(values), mean, _bootstrapped(values, clusters))


def _cluster(stored: Stored, case: str, labels: Mapping[Key, Labels | None]) -> str:
    told = labels.get((case, stored.cases.get(case, "")))
    return told.cluster if told is not None else case


@lru_cache(4096)
def _bootstrapped(values: Row, clusters: tuple[str, ...]) -> Interval | None:
    return bootstrap_mean(values, clusters, np.random.default_rng(SEED))


def _summary(
    stored: Stored,
    variant: str,
    scorer: ScorerInfo,
    n: int,
    mean: float | None,
    interval: Interval | None,
    hits: int | None = None,
) -> Summary:
    low, high = interval or (None, None)
    return Summary(
        variant=variant,
        scorer=scorer.name,
        n=n,
        total=len(stored.cases),
        mean=mean,
        low=low,
        high=high,
        hits=hits,
        pessimistic=None,
        optimistic=None,
        skipped=0,
        failed=0,
    )
