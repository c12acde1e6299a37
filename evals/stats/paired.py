"""Two variants on the same cases: exact McNemar, the interval of a difference, and the correction for many tests."""

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np

from evals.stats.binomial import at_least, normal_quantile, two_sided
from evals.stats.intervals import CONFIDENCE, Interval, codes

Name = TypeVar("Name", bound=Hashable)
SAME: Final = 1e-9
"""Smaller differences are rounding."""


@dataclass(frozen=True)
class McNemar:
    """The exact McNemar test on `pairs` cases. Under the null a changed case is as likely lost as gained, so `lost` is
    binomial(lost + gained, 1/2); without a changed case every p is 1 (McNemar 1947, exact form)."""

    pairs: int
    lost: int
    gained: int
    p_two_sided: float
    p_worse: float
    p_better: float

    @property
    def difference(self) -> float:
        """Change of the pass rate, candidate minus reference."""
        return (self.gained - self.lost) / self.pairs


def mcnemar(reference: Sequence[bool], candidate: Sequence[bool]) -> McNemar | None:
    """Compare pass/fail of the same cases in the same order; None for an empty sample."""
    pairs = list(zip(reference, candidate, strict=True))
    if not pairs:
        return None
    lost = sum(1 for was, now in pairs if was and not now)
    gained = sum(1 for was, now in pairs if now and not was)
    return McNemar(
        pairs=len(pairs),
        lost=lost,
        gained=gained,
        p_two_sided=two_sided(lost, lost + gained),
        p_worse=at_least(lost, lost + gained),
        p_better=at_least(gained, lost + gained),
    )


def difference_interval(
    changes: Sequence[float],
    clusters: Sequence[Hashable],
    weights: Sequence[float] | None = None,
    confidence: float = CONFIDENCE,
) -> Interval | None:
    """Interval of a mean paired difference between -1 and 1, candidate minus reference, clusters kept together.

    The adjusted interval of Bonett and Price (2012): one gain and one loss are added to what was seen, here of the size
    (root mean square) of the clusters that changed.

    Args:
        changes: the weighted difference of each pair; their plain mean is the difference.
        clusters: the cluster of each pair.
        weights: what a pair can change by; 1 if not given. They say how large a change is where none was seen.
        confidence: 0 to 1.

    Returns:
        None below two clusters.
    """
    owner, count = codes(clusters, len(changes))
    if count < 2:
        return None
    sums = np.bincount(owner, weights=changes, minlength=count) * count / len(changes)
    changed = sums[np.abs(sums) > SAME]
    most = np.bincount(owner, weights=weights, minlength=count) * count / len(changes)
    step = float(np.mean((changed if len(changed) else most) ** 2))
    middle = float(sums.sum()) / (count + 2)
    variance = (float((sums**2).sum()) + 2 * step) / (count + 2) - middle**2
    half = normal_quantile((1 + confidence) / 2) * math.sqrt(variance / (count + 2))
    return Interval(max(-1.0, middle - half), min(1.0, middle + half))


def holm(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Holm's step-down adjusted p-values (Holm 1979), in the order given: compare each with alpha as it is."""
    adjusted: dict[Name, float] = {}
    floor = 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        floor = max(floor, min(1.0, (len(p_values) - rank) * p_values[name]))
        adjusted[name] = floor
    return {name: adjusted[name] for name in p_values}


def counted_tests(least: Collection[float], alpha: float) -> int:
    """By how many tests alpha has to be divided (Tarone 1990); `least` holds the smallest p each of them could reach.

    A test that could not reach alpha / k whatever its signs were cannot raise a false alarm at that level either, so it
    does not count. The smallest k for which no more than k tests could. At least 1.
    """
    k = 1
    while sum(one <= alpha / k for one in least) > k:
        k += 1
    return k


def tarone_holm(p_values: Mapping[Name, float], least: Mapping[Name, float], alpha: float) -> dict[Name, float]:
    """p-values adjusted step by step as in Holm's procedure, but counting only tests that could reach the level.

    Controls the chance of any false alarm among all tests at `alpha` (Tarone 1990; the step-down form of Hommel and
    Krummenauer 1998). Compare each with `alpha` as it is; with `least` all 0 it is `holm`.
    """
    adjusted: dict[Name, float] = {}
    left = dict(least)
    floor = 0.0
    for name in sorted(p_values, key=lambda name: p_values[name]):
        floor = max(floor, min(1.0, counted_tests(left.values(), alpha) * p_values[name]))
        adjusted[name] = floor
        del left[name]
    return {name: adjusted[name] for name in p_values}
