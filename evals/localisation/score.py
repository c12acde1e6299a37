"""Rankings scored per level: rates and means with intervals that hold for few instances.

Only instances with gold at that level are scored; one without a prediction is scored as having named nothing. What has
no gold is counted apart, since neither a hit nor a miss is possible there.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evals.localisation.read import LEVELS, Level, Named
from evals.stats.intervals import Interval, fraction_interval, mean, rate_interval
from evals.stats.ranking import (
    all_at,
    average_precision,
    filled_at,
    harmonic_mean,
    hit_at,
    precision,
    recall,
    reciprocal_rank,
)

Gold = frozenset[str]
Ranking = tuple[str, ...]
Pairs = Sequence[tuple[Ranking, Gold]]
Rate = Callable[[Ranking, Gold, int], bool]

RATES: Final[Mapping[str, Rate]] = {"Hit": hit_at, "Acc": all_at, "Acc (LocAgent)": filled_at}
MEANS: Final[Mapping[str, Callable[[Ranking, Gold], float]]] = {
    "MRR": reciprocal_rank,
    "MAP": average_precision,
    "precision": precision,
    "recall": recall,
    "F1": lambda named, gold: harmonic_mean(precision(named, gold), recall(named, gold)),
}


@dataclass(frozen=True)
class Metric:
    """One number over `n` instances; `hits` of them for a rate, None for a mean."""

    name: str
    value: float | None
    interval: Interval | None
    n: int
    hits: int | None = None


@dataclass(frozen=True)
class LevelScores:
    """One level. `unlabelled` instances say nothing of it in the gold file; `empty` ones have nothing to find there,
    `silent` of them a prediction that rightly names nothing; of the `scored` rest, `unpredicted` have none at all."""

    level: Level
    scored: int
    unpredicted: int
    empty: int
    silent: int
    unlabelled: int
    metrics: tuple[Metric, ...]


def score(gold: Mapping[str, Named], predictions: Mapping[str, Named], ks: Sequence[int]) -> tuple[LevelScores, ...]:
    """The levels that both sides speak of, in the order file, function, whole name."""
    return tuple(
        _level(level, gold, predictions, ks)
        for level in LEVELS
        if _speaks(gold.values(), level) and _speaks(predictions.values(), level)
    )


def _speaks(rows: Iterable[Named], level: Level) -> bool:
    return any(level in row for row in rows)


def _level(
    level: Level,
    gold: Mapping[str, Named],
    predictions: Mapping[str, Named],
    ks: Sequence[int],
) -> LevelScores:
    wanted = {name: frozenset(row[level]) for name, row in gold.items() if level in row}
    named = {name: predictions.get(name, {}).get(level, ()) for name in wanted}
    scored = [name for name, right in wanted.items() if right]
    empty = [name for name, right in wanted.items() if not right]
    pairs = [(named[name], wanted[name]) for name in scored]
    return LevelScores(
        level=level,
        scored=len(scored),
        unpredicted=sum(name not in predictions for name in scored),
        empty=len(empty),
        silent=sum(name in predictions and not named[name] for name in empty),
        unlabelled=len(gold) - len(wanted),
        metrics=(*_rates(pairs, ks), *_means(pairs)),
    )


def _rates(pairs: Pairs, ks: Sequence[int]) -> list[Metric]:
    metrics = []
    for name, rate in RATES.items():
        for k in ks:
            hits = sum(rate(ranked, gold, k) for ranked, gold in pairs)
            value = hits / len(pairs) if pairs else None
            metrics.append(Metric(f"{name}@{k}", value, rate_interval(hits, len(pairs)), len(pairs), hits))
    return metrics


def _means(pairs: Pairs) -> list[Metric]:
    metrics = []
    for name, formula in MEANS.items():
        values = [formula(ranked, gold) for ranked, gold in pairs]
        interval = fraction_interval(values, range(len(values)))
        metrics.append(Metric(name, mean(values), interval, len(values)))
    return metrics
