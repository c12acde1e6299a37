"""What a single rate or mean is worth: its interval."""

import math
from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evals.stats.binomial import normal_quantile
from evals.stats.draws import draws

CONFIDENCE: Final = 0.95
RESAMPLES: Final = 4000


class Interval(NamedTuple):
    """A confidence interval, both ends included, in the unit of what it is about."""

    low: float
    high: float


def wilson(successes: int, trials: int, confidence: float = CONFIDENCE) -> Interval | None:
    """Wilson's score interval of a rate, without continuity correction (Wilson 1927); None for an empty sample."""
    if not trials:
        return None
    z = normal_quantile((1 + confidence) / 2)
    p, weight = successes / trials, 1 + z * z / trials
    middle = (p + z * z / (2 * trials)) / weight
    half = z / weight * math.sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials))
    low = 0.0 if successes == 0 else middle - half
    return Interval(low, 1.0 if successes == trials else middle + half)


def newcombe(one: tuple[int, int], other: tuple[int, int], confidence: float = CONFIDENCE) -> Interval | None:
    """Interval of the difference of two independent rates, each (successes, trials), from their Wilson intervals
    (Newcombe 1998, method 10); None for an empty sample."""
    first, second = wilson(*one, confidence), wilson(*other, confidence)
    if first is None or second is None:
        return None
    p, q = one[0] / one[1], other[0] / other[1]
    down = math.hypot(p - first.low, second.high - q)
    up = math.hypot(first.high - p, q - second.low)
    return Interval(p - q - down, p - q + up)


def mean(values: Sequence[float]) -> float | None:
    """The arithmetic mean; None for an empty sample."""
    return float(np.mean(values)) if len(values) else None


def bootstrap_mean(
    values: Sequence[float],
    clusters: Sequence[Hashable],
    rng: np.random.Generator,
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
) -> Interval | None:
    """Percentile interval of a mean when whole clusters are drawn; None below two clusters, where nothing varies."""
    drawn = resampled_means(values, clusters, rng, resamples)
    return percentiles(drawn, confidence) if drawn is not None else None


def resampled_means(
    values: Sequence[float], clusters: Sequence[Hashable], rng: np.random.Generator, resamples: int
) -> NDArray[np.float64] | None:
    """`resamples` means of the values of clusters drawn with replacement; None below two clusters.

    One cluster id per value; each draw takes as many clusters as there are (Field & Welsh 2007, the cluster bootstrap).
    """
    codes: dict[Hashable, int] = {}
    owner = [codes.setdefault(name, len(codes)) for name in clusters]
    if len(owner) != len(values):
        raise ValueError(f"{len(values)} values but {len(owner)} cluster ids: give one per value")
    if len(codes) < 2:
        return None
    sums = np.bincount(owner, weights=values, minlength=len(codes))
    sizes = np.bincount(owner, minlength=len(codes))
    means = [(times @ sums) / (times @ sizes) for times in draws(len(codes), resamples, rng)]
    return np.concatenate(means)


def varied(interval: Interval | None) -> Interval | None:
    """No interval where every draw gives the same: nothing varied, which is no proof that nothing can."""
    return interval if interval is not None and interval.low < interval.high else None


def percentiles(drawn: NDArray[np.float64], confidence: float) -> Interval:
    """The central `confidence` of resampled values."""
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high))
