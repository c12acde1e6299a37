"""Numbers of a past baseline with their intervals."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from evals.analysis.history_baselines import Key, LabelSet, Scores, Stored
from evals.models.run import ScorerInfo, Summary
from evals.statistics.intervals import Interval, fraction_interval, macro_interval, macro_mean

Row = tuple[float, ...]
States = tuple[tuple[str, str, str], ...]
"""(case, gold node, cluster) of every state, in order."""


def estimates(
    baselines: Sequence[Stored], labels: Mapping[Key, LabelSet | None], scorers: Sequence[ScorerInfo]
) -> list[tuple[Summary, ...]]:
    """The summaries of each baseline: every score of every variant; endpoints with intervals, costs as plain means."""
    known = [{name: _states(stored, name, labels) for name in stored.variants} for stored in baselines]
    return [
        tuple(
            _macro(stored, name, scorer, told[name]) if scorer.macro else _over_cases(stored, name, scorer, labels)
            for name in stored.variants
            for scorer in scorers
        )
        for stored, told in zip(baselines, known, strict=True)
    ]


def unknown_gold(stored: Stored, summaries: Sequence[Summary], labels: Mapping[Key, LabelSet | None]) -> list[str]:
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


def _states(stored: Stored, variant: str, labels: Mapping[Key, LabelSet | None]) -> tuple[States, Row] | None:
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


def _labels(stored: Stored, case: str, points: Scores, labels: Mapping[Key, LabelSet | None]) -> LabelSet | None:
    """The labels of a case, if they know all of the points."""
    told = labels.get((case, stored.cases.get(case, "")))
    return told if told is not None and told.gold.keys() >= points.keys() else None


def _macro(
    stored: Stored,
    variant: str,
    scorer: ScorerInfo,
    told: tuple[States, Row] | None,
) -> Summary:
    if told is None:
        return _summary(stored, variant, scorer, 0, None, None)
    states, row = told
    mean = macro_mean(row, [gold for _, gold, _ in states])
    return _summary(stored, variant, scorer, len({case for case, *_ in states}), mean, _graded(row, states))


def _over_cases(stored: Stored, variant: str, scorer: ScorerInfo, labels: Mapping[Key, LabelSet | None]) -> Summary:
    scores = stored.scores.get((variant, scorer.name), {})
    values = tuple(scores.values())
    mean = sum(values) / len(values) if values else None
    if not scorer.primary or not values:
        return _summary(stored, variant, scorer, len(values), mean, None)
    hits = sum(value == 1 for value in values) if all(value in (0, 1) for value in values) else None
    clusters = tuple(_cluster(stored, case, labels) for case in scores)
    return _summary(stored, variant, scorer, len(values), mean, _interval(values, clusters), hits)


def _cluster(stored: Stored, case: str, labels: Mapping[Key, LabelSet | None]) -> str:
    told = labels.get((case, stored.cases.get(case, "")))
    return told.cluster if told is not None else case


@lru_cache(4096)
def _interval(values: Row, clusters: tuple[str, ...]) -> Interval | None:
    return fraction_interval(values, clusters)


@lru_cache(4096)
def _graded(row: Row, states: States) -> Interval | None:
    return macro_interval(row, [gold for _, gold, _ in states], [cluster for *_, cluster in states])


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
