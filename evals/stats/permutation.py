"""Paired tests by sign flips: if nothing but chance changed, a cluster's difference may as well have the other sign."""

import math
from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evals.stats.beta import t_cdf
from evals.stats.binomial import pmf
from evals.stats.intervals import codes

RESAMPLES: Final = 9999
_AT_ONCE: Final = 500_000  # signs: 4 MB, however many clusters there are
_TIE: Final = 1e-12  # of the largest sum: sums of the same numbers in another order are the same
_WHOLE: Final = 10_000
"""Largest sum of whole numbers whose distribution is computed exactly."""


class SignFlip(NamedTuple):
    """One-sided p-values of a paired test, for "worse" and "better", and the smallest either could have been."""

    worse: float
    better: float
    least: float


def sign_flip(changes: Sequence[float], clusters: Sequence[Hashable], rng: np.random.Generator) -> SignFlip | None:
    """Test of a mean difference (Fisher 1935), clusters flipped as a whole; None for an empty sample.

    Exact for whole numbers (with one case per cluster it is exact McNemar), and up to 13 clusters that changed; sampled
    beyond. `least` is 2^-k with k clusters that changed. Grades have to be significant by Hall's test as well.
    """
    if not len(changes):
        return None
    owner, count = codes(clusters, len(changes))
    sums: NDArray[np.float64] = np.bincount(owner, weights=changes, minlength=count).astype(np.float64)
    sums[np.abs(sums) <= _TIE * np.abs(sums).max()] = 0.0
    changed = sums[sums != 0]
    if not len(changed):
        return SignFlip(1.0, 1.0, 1.0)
    least = 0.5 ** len(changed)
    if np.array_equal(changed, np.round(changed)) and np.abs(changed).sum() <= _WHOLE:
        return SignFlip(*_whole(changed.astype(np.int64)), least)
    worse, better = _flipped(changed, rng)
    return SignFlip(max(worse, hall(sums)), max(better, hall(-sums)), least)


def hall(sums: NDArray[np.float64]) -> float:
    """One-sided p of "the mean is below zero" by a t statistic corrected for skewness (Hall's transformation, 1992).

    Sign flips assume that differences are symmetric about zero. Many small losses beside few large gains are not, and
    would be called worse too often.
    """
    count = len(sums)
    middle = float(sums.mean())
    spread = math.sqrt(float(((sums - middle) ** 2).mean()))
    if count < 2 or spread <= _TIE * abs(middle):
        return 1.0 if middle >= 0 else 0.0  # all alike: the flips decide
    t = middle / spread * math.sqrt(count - 1)
    skew = float(((sums - middle) ** 3).mean()) / spread**3 / math.sqrt(count)
    return t_cdf(t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6, count - 1)


def _whole(changed: NDArray[np.int64]) -> tuple[float, float]:
    """P of a sum as low, and as high, over all signs of whole numbers: sizes are convolved, the smallest first."""
    chances = np.ones(1)  # of the sum, from the lowest one upwards in steps of two
    for size, times in zip(*np.unique(np.abs(changed), return_counts=True), strict=True):
        spread = np.zeros(int(size) * int(times) + 1)
        spread[:: int(size)] = pmf(int(times), 0.5)
        chances = np.convolve(chances, spread)
    place = int(np.abs(changed).sum() + changed.sum()) // 2
    return min(1.0, math.fsum(chances[: place + 1])), min(1.0, math.fsum(chances[place:]))


def _flipped(changed: NDArray[np.float64], rng: np.random.Generator) -> tuple[float, float]:
    """The same by looking at every choice of signs, or at a sample of them."""
    flips = 1 << len(changed)
    drawn = min(flips, RESAMPLES)
    total, margin = float(changed.sum()), _TIE * float(np.abs(changed).sum())
    batch = max(1, _AT_ONCE // len(changed))
    low = high = 0
    for start in range(0, drawn, batch):
        sums = _signs(start, min(batch, drawn - start), len(changed), rng) @ changed
        low += int(np.sum(sums <= total + margin))
        high += int(np.sum(sums >= total - margin))
    if drawn == flips:
        return low / drawn, high / drawn
    return (low + 1) / (drawn + 1), (high + 1) / (drawn + 1)  # what was seen is one of the draws (Phipson & Smyth 2010)


def _signs(start: int, count: int, clusters: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Rows of +1 and -1: those numbered from `start` where all are looked at, drawn ones where there are too many."""
    if 1 << clusters <= RESAMPLES:
        numbers = np.arange(start, start + count)[:, None]
        return np.where(numbers >> np.arange(clusters) & 1, -1.0, 1.0)
    return np.where(rng.random((count, clusters)) < 0.5, -1.0, 1.0)
