"""Macro-averages: the mean over groups of the mean inside each, so that a frequent group does not drown a rare one."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from evals.stats.draws import draws
from evals.stats.intervals import CONFIDENCE, RESAMPLES, Interval, bootstrap_mean, percentiles, wilson


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


def bootstrap_macro(
    values: Sequence[float],
    groups: Sequence[Hashable],
    clusters: Sequence[Hashable],
    rng: np.random.Generator,
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
) -> Interval | None:
    """Percentile interval of a macro-average when whole clusters are drawn; None below two clusters.

    Each draw is averaged anew; a group that no drawn cluster has is left out of that draw.
    """
    owner, names = _codes(clusters)
    group, kinds = _codes(groups)
    if names < 2 or kinds < 2:
        return bootstrap_mean(values, clusters, rng, confidence=confidence, resamples=resamples)
    sums, sizes = np.zeros((names, kinds)), np.zeros((names, kinds))
    np.add.at(sums, (owner, group), values)
    np.add.at(sizes, (owner, group), 1)
    drawn = [_macro(times @ sums, times @ sizes) for times in draws(names, resamples, rng)]
    return percentiles(np.concatenate(drawn), confidence)


def graded_interval(
    values: Sequence[float], groups: Sequence[Hashable], clusters: Sequence[Hashable], rng: np.random.Generator
) -> Interval | None:
    """Interval of a macro-average of grades: the bootstrap's; where all are right, or all wrong, Wilson's of the number
    of clusters, since drawing them again would promise that the next is so too."""
    if len(set(values)) == 1 and values[0] in (0, 1):
        size = len(set(clusters))
        return wilson(size if values[0] else 0, size)
    return bootstrap_macro(values, groups, clusters, rng)


def _macro(sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """One macro-average per row (draws x groups)."""
    there = sizes > 0
    means = np.divide(sums, sizes, out=np.zeros_like(sums), where=there)
    average: NDArray[np.float64] = means.sum(axis=1) / there.sum(axis=1)
    return average


def _codes(names: Sequence[Hashable]) -> tuple[list[int], int]:
    """Numbers for names, in order of appearance, and how many there are."""
    codes: dict[Hashable, int] = {}
    return [codes.setdefault(name, len(codes)) for name in names], len(codes)
