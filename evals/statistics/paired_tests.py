"""Tests for paired samples (McNemar, sign flip over clusters, Holm's correction), and their power."""

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from evals.statistics.distributions import at_least, least_rejected, normal_quantile, pmf, t_cdf, t_quantile, two_sided
from evals.statistics.intervals import CONFIDENCE, Interval, codes

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
) -> Interval | None:
    """95 % interval of a mean paired difference between -1 and 1, candidate minus reference, clusters kept together.

    The adjusted interval of Bonett and Price (2012): one gain and one loss are added to what was seen, here of the size
    (root mean square) of the clusters that changed.

    Args:
        changes: the weighted difference of each pair; their plain mean is the difference.
        clusters: the cluster of each pair.
        weights: what a pair can change by; 1 if not given. They say how large a change is where none was seen.

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
    half = normal_quantile((1 + CONFIDENCE) / 2) * math.sqrt(variance / (count + 2))
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


SIGN_FLIPS: Final = 9999
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
    sums[np.abs(sums) <= max(SAME, _TIE * np.abs(sums).max())] = 0.0
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
    drawn = min(flips, SIGN_FLIPS)
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
    if 1 << clusters <= SIGN_FLIPS:
        numbers = np.arange(start, start + count)[:, None]
        return np.where(numbers >> np.arange(clusters) & 1, -1.0, 1.0)
    return np.where(rng.random((count, clusters)) < 0.5, -1.0, 1.0)


ALPHA: Final = 0.05
POWER: Final = 0.8
NEVER: Final = 1e-12
"""A number of changes with less of a chance has no say: of thousands of cases that is nearly every number."""


def mcnemar_power(pairs: int, drop: float, *, churn: float = 0.0, alpha: float = ALPHA) -> float:
    """Chance (0..1) of calling a net `drop` of the pass rate a regression with this many pairs."""
    discordant = 2 * churn + drop
    if discordant > 1:
        raise ValueError(f"churn {churn} and drop {drop} need more than all cases: 2*churn + drop must be at most 1")
    if not pairs or discordant <= 0:
        return 0.0
    lost = (churn + drop) / discordant
    chance = pmf(pairs, discordant)
    likely = np.flatnonzero(chance > NEVER).tolist()
    return float(sum(chance[d] * at_least(_least_rejected(d, alpha), d, lost) for d in likely))


_least_rejected = cache(least_rejected)


@cache
def minimum_detectable_drop(
    pairs: int, *, churn: float = 0.0, alpha: float = ALPHA, power: float = POWER
) -> float | None:
    """Smallest net drop of the pass rate (0..1, to 0.001) seen with this power; None if no drop is big enough."""
    most = math.floor(round((1 - 2 * churn) * 1000, 6))

    def enough(thousandths: int) -> bool:
        return mcnemar_power(pairs, thousandths / 1000, churn=churn, alpha=alpha) >= power

    if most < 1 or not enough(most):
        return None
    low, high = 0, 1  # power grows with the drop, and what it costs with the number of changes: up from the smallest
    while high < most and not enough(high):
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high / 1000


def minimum_detectable_difference(
    differences: Sequence[float], clusters: Sequence[Hashable], *, alpha: float = ALPHA
) -> float | None:
    """Smallest mean drop of a graded score seen with a power of 80 %, one-sided, in the unit of the score.

    `(t(1 - alpha) + t(0.8)) * s / sqrt(C)` with s the standard deviation of the C cluster sums, scaled so that their
    mean is the difference; None below two clusters, and where they do not differ at all: no spread seen is no proof
    that there is none.
    """
    owner, count = codes(clusters, len(differences))
    if count < 2:
        return None
    sums = np.bincount(owner, weights=differences, minlength=count) * count / len(differences)
    spread = float(np.std(sums, ddof=1))
    if spread == 0:
        return None
    quantiles = t_quantile(1 - alpha, count - 1) + t_quantile(POWER, count - 1)
    return quantiles * spread / math.sqrt(count)


@cache
def smallest_significant_flips(
    pairs: int, *, gained: int = 0, alpha: float = ALPHA, two_sided: bool = False
) -> int | None:
    """Fewest lost cases that make exact McNemar significant beside `gained` ones; None with too few pairs."""
    for lost in range(pairs - gained + 1):
        was = [True] * lost + [False] * gained + [True] * (pairs - lost - gained)
        test = mcnemar(was, [not value for value in was[: lost + gained]] + was[lost + gained :])
        if test is not None and lost > gained and (test.p_two_sided if two_sided else test.p_worse) <= alpha:
            return lost
    return None
