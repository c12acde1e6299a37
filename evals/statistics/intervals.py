"""Confidence intervals of rates, means and macro averages; cluster bootstrap."""

import math
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evals.statistics.distributions import beta_cdf, normal_quantile, root, t_quantile

CONFIDENCE: Final = 0.95
RESAMPLES: Final = 4000
FEWEST_CLUSTERS: Final = 12
"""Below this an unbounded mean has no interval: of skewed values none is known that covers often enough."""
_PSEUDO: Final = 2
"""Observations with the spread of a coin that are added to the spread of grades: few equal grades may hide some."""


class Interval(NamedTuple):
    """A confidence interval, both ends included, in the unit of what it is about."""

    low: float
    high: float


@lru_cache(8192)
def rate_interval(successes: float, trials: float, confidence: float = CONFIDENCE) -> Interval | None:
    """Mid-P interval of a rate (Lancaster 1961); None for an empty sample.

    Both numbers may be effective ones, and so fractions. As wide as Wilson's, but it also holds for rates near 0 and 1.
    """
    if trials <= 0:
        return None
    p = min(1.0, max(0.0, successes / trials))
    tail = (1 - confidence) / 2

    def at_most(rate: float) -> float:
        """P(fewer successes) and half of P(just as many), at this rate."""
        fewer = beta_cdf(1 - rate, trials - successes + 1, successes) if p > 0 else 0.0
        not_more = beta_cdf(1 - rate, trials - successes, successes + 1) if p < 1 else 1.0
        return (fewer + not_more) / 2

    low = root(lambda rate: at_most(rate) - (1 - tail), 0.0, p) if p > 0 else 0.0
    high = root(lambda rate: at_most(rate) - tail, p, 1.0) if p < 1 else 1.0
    return Interval(low, high)


def mean(values: Sequence[float]) -> float | None:
    """The arithmetic mean; None for an empty sample."""
    return float(np.mean(values)) if len(values) else None


def fraction_interval(
    values: Sequence[float],
    clusters: Sequence[Hashable],
    weights: Sequence[float] | None = None,
) -> Interval | None:
    """95 % interval of the (weighted) mean of values between 0 and 1; those of a cluster may depend on each other.

    The mid-P interval of a rate with as many observations as give the variance that the cluster sums show (the
    effective sample size of Korn and Graubard 1998). Clusters count at least as single observations.

    Args:
        values: 0 to 1, one per case or decision point.
        clusters: the cluster of each value.
        weights: of each value; all alike if not given.

    Returns:
        None for an empty sample, and for grades from fewer than two clusters.
    """
    if not len(values):
        return None
    all_or_nothing = weights is None and all(value in (0, 1) for value in values)
    owner, count = codes(clusters, len(values))
    if all_or_nothing and count == len(values):
        return rate_interval(float(sum(values)), float(len(values)))
    share = np.full(len(values), 1.0) if weights is None else np.asarray(weights, dtype=float)
    share = share / share.sum()
    found = float(share @ values)
    heavy = np.bincount(owner, weights=share, minlength=count)
    size = float(1 / (heavy**2).sum())  # Kish's effective number of clusters
    spread = found * (1 - found)
    if spread < 1e-12:
        return rate_interval(round(found) * size, size)
    if count < 2:
        return rate_interval(found, 1.0) if all_or_nothing else None
    moved = np.bincount(owner, weights=share * (np.asarray(values, dtype=float) - found), minlength=count)
    freedom = max(1.0, size - 1)
    variance = size * size / freedom * float((moved**2).sum())  # of one effective cluster
    variance = (freedom * variance + _PSEUDO * spread) / (freedom + _PSEUDO)
    effective = max(size, spread / variance * size)
    if all_or_nothing:
        effective = min(effective, len(values))
    else:
        effective *= (normal_quantile((1 + CONFIDENCE) / 2) / t_quantile((1 + CONFIDENCE) / 2, freedom)) ** 2
    return rate_interval(found * effective, effective)


def mean_interval(values: Sequence[float], clusters: Sequence[Hashable]) -> Interval | None:
    """95 % interval of the mean of values without bounds, such as tokens or seconds, in the unit of the values.

    Student's t over clusters, stretched on the side of a long tail (Johnson 1978). None below 12 clusters, and where
    nothing varied.
    """
    owner, count = codes(clusters, len(values))
    if count < FEWEST_CLUSTERS:
        return None
    found = float(np.mean(values))
    moved = np.bincount(owner, weights=np.asarray(values, dtype=float) - found, minlength=count) * count / len(values)
    variance = float((moved**2).sum()) / (count - 1)
    if variance == 0:
        return None
    t = t_quantile((1 + CONFIDENCE) / 2, count - 1)
    half = t * math.sqrt(variance / count)
    tail = float((moved**3).mean()) / (6 * variance * count) * (1 + 2 * t * t)
    return Interval(found - half + min(0.0, tail), found + half + max(0.0, tail))


def codes(names: Sequence[Hashable], count: int) -> tuple[NDArray[np.int64], int]:
    """Numbers for names, in order of appearance, and how many different ones there are.

    Raises:
        ValueError: there are not `count` names.
    """
    known: dict[Hashable, int] = {}
    found = np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)
    if len(found) != count:
        raise ValueError(f"{count} values but {len(found)} cluster ids: give one per value")
    return found, len(known)


def varied(interval: Interval | None) -> Interval | None:
    """No interval where every draw gives the same: nothing varied, which is no proof that nothing can."""
    return interval if interval is not None and interval.low < interval.high else None


def percentiles(drawn: NDArray[np.float64], confidence: float) -> Interval:
    """The central `confidence` of resampled values."""
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high))


_AT_ONCE: Final = 500_000  # numbers drawn: 4 MB
_KEPT: Final = 16
"""Sets of draws that are kept: every interval of a run is drawn from the same seed, for a few numbers of clusters."""

Times = NDArray[np.float64]


def draws(clusters: int, resamples: int, rng: np.random.Generator) -> Iterator[Times]:
    """How often each cluster is drawn per resample (draws x clusters), in blocks: many cases take no more memory.

    A single block is kept; whoever draws it again, from a generator in the same state, gets it as it was. Not to be
    written to.
    """
    rows = max(1, _AT_ONCE // clusters)
    if resamples <= rows:
        yield _again(clusters, resamples, rng)
        return
    for start in range(0, resamples, rows):
        yield _drawn(clusters, min(rows, resamples - start), rng)


def _again(clusters: int, count: int, rng: np.random.Generator) -> Times:
    """The block, drawn now or earlier; the generator stands where drawing leaves it."""
    key = clusters, count, repr(rng.bit_generator.state)
    if key not in _kept:
        if len(_kept) == _KEPT:
            del _kept[next(iter(_kept))]
        times = _drawn(clusters, count, rng)
        times.flags.writeable = False
        _kept[key] = times, rng.bit_generator.state
    times, rng.bit_generator.state = _kept[key]
    return times


_kept: Final[dict[tuple[int, int, str], tuple[Times, Any]]] = {}


def _drawn(clusters: int, count: int, rng: np.random.Generator) -> Times:
    places = rng.integers(0, clusters, size=(count, clusters)) + clusters * np.arange(count)[:, None]
    return np.bincount(places.ravel(), minlength=count * clusters).reshape(count, clusters).astype(float)


def macro_mean(values: Sequence[float], groups: Sequence[Hashable]) -> float | None:
    """The mean over groups of the mean of their values; None for an empty sample. One group id per value."""
    inside: dict[Hashable, list[float]] = {}
    for group, value in zip(groups, values, strict=True):
        inside.setdefault(group, []).append(value)
    means = [sum(mine) / len(mine) for mine in inside.values()]
    return sum(means) / len(means) if means else None


def macro_weights(groups: Sequence[Hashable]) -> list[float]:
    """What each value counts in the macro-average: 1 / (groups · values of its group). They add up to 1."""
    sizes: dict[Hashable, int] = {}
    for group in groups:
        sizes[group] = sizes.get(group, 0) + 1
    return [1 / (len(sizes) * sizes[group]) for group in groups]


def macro_interval(
    values: Sequence[float], groups: Sequence[Hashable], clusters: Sequence[Hashable]
) -> Interval | None:
    """95 % interval of the macro-average of values between 0 and 1; None as for `fraction_interval`."""
    return fraction_interval(values, clusters, macro_weights(groups) if len(set(groups)) > 1 else None)
