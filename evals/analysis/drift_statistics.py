"""Statistics of a drift check: stratified estimates, permutation test, power."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evals.statistics.distributions import at_least, normal_quantile, pmf
from evals.statistics.intervals import CONFIDENCE


class Seen(NamedTuple):
    """One sampled request: its value, how many of the population it stands for, and its case."""

    value: float
    weight: float
    cluster: Hashable


@dataclass(frozen=True)
class Estimate:
    """A weighted mean with its 95 % interval, over `size` requests that are worth `effective` drawn at random."""

    value: float
    low: float
    high: float
    size: int
    effective: float


def share(seen: Sequence[Seen]) -> Estimate | None:
    """A share of all requests (values 0 to 1): Wilson's interval at the effective size; None for an empty sample.

    The effective size is p(1 - p) / V, at most that of the weights alone (Kish 1965); V is the linearised variance with
    cases as clusters (Woodruff 1971). Wilson at the effective size holds its level for rates near 0 and 1 (Franco et
    al. 2019).
    """
    if not seen:
        return None
    mean = _mean(seen)
    most = sum(each.weight for each in seen) ** 2 / sum(each.weight**2 for each in seen)
    variance = _variance(seen, mean)
    effective = min(most, mean * (1 - mean) / variance) if variance > 0 else most
    low, high = wilson_at(mean, effective)
    return Estimate(mean, low, high, len(seen), effective)


def mean_of(seen: Sequence[Seen]) -> Estimate | None:
    """A mean over all requests, with a normal interval from the same variance, which is 0 where cases do not vary; None
    for an empty sample."""
    if not seen:
        return None
    mean = _mean(seen)
    variance = _variance(seen, mean)
    half = normal_quantile((1 + CONFIDENCE) / 2) * math.sqrt(variance)
    return Estimate(mean, mean - half, mean + half, len(seen), float(len(seen)))


def difference(one: Estimate, other: Estimate) -> tuple[float, float, float]:
    """`one` minus `other` with its interval, from those of the two (MOVER: Newcombe 1998, Zou & Donner 2008).

    Taken as independent: they are of the same requests and rise together, so it is rather too wide.
    """
    value = one.value - other.value
    down = math.hypot(one.value - one.low, other.high - other.value)
    up = math.hypot(one.high - one.value, other.value - other.low)
    return value, max(-1.0, value - down), min(1.0, value + up)


def wilson_at(rate: float, size: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's score interval of a rate over a sample whose size need be no whole number."""
    z = normal_quantile((1 + confidence) / 2)
    weight = 1 + z * z / size
    middle = (rate + z * z / (2 * size)) / weight
    half = z / weight * math.sqrt(rate * (1 - rate) / size + z * z / (4 * size * size))
    return (0.0 if rate <= 0 else middle - half), (1.0 if rate >= 1 else middle + half)


def _mean(seen: Sequence[Seen]) -> float:
    mean = math.fsum(each.weight * each.value for each in seen) / math.fsum(each.weight for each in seen)
    return min(max(mean, min(each.value for each in seen)), max(each.value for each in seen))  # a last digit over 1


def _variance(seen: Sequence[Seen], mean: float) -> float:
    """Of the weighted mean: squared totals of the cases' weighted residuals; 0 where all are alike, or of one case."""
    totals: dict[Hashable, float] = {}
    for each in seen:
        totals[each.cluster] = totals.get(each.cluster, 0.0) + each.weight * (each.value - mean)
    if len(totals) < 2:
        return 0.0
    whole = math.fsum(each.weight for each in seen)
    return len(totals) / (len(totals) - 1) * math.fsum(total**2 for total in totals.values()) / whole**2


DRAWS: Final = 9999


@dataclass(frozen=True)
class AnswerPool:
    """What was ever answered to one request, in one respect: values that are equal or not."""

    recorded: tuple[Hashable, ...]
    fresh: tuple[Hashable, ...]

    @property
    def told(self) -> bool:
        """Whether anything tells its noise: one side has two answers."""
        return max(len(self.recorded), len(self.fresh)) > 1 and min(len(self.recorded), len(self.fresh)) > 0

    @property
    def apart(self) -> float:
        """Share of pairs of a recorded and a fresh answer that differ, 0 to 1."""
        return float(_apart(self.recorded, self.fresh))

    @property
    def noise(self) -> float:
        """Share of pairs inside either side that differ, 0 to 1; asked of pools whose noise is `told` only."""
        return float(_noise(self.recorded, self.fresh))


def exceeds_p(pools: Sequence[AnswerPool]) -> float:
    """One-sided p, exact, that fresh and recorded answers are further apart than either's among themselves.

    The statistic is the sum over requests of `apart` minus `noise`; its null distribution is convolved over requests.
    1 where no request has answers that differ.
    """
    informative = [_coded(pool) for pool in pools if pool.told and len({*pool.recorded, *pool.fresh}) > 1]
    if not informative:
        return 1.0
    nulls = [_null(codes, fresh) for codes, fresh in informative]
    unit = math.lcm(*(value.denominator for null in nulls for value in null))
    chance, lowest = np.ones(1), 0
    for null in nulls:
        places = [int(value * unit) for value in null]
        least = min(places)
        one = np.bincount([place - least for place in places]) / len(places)
        chance, lowest = np.convolve(chance, one), lowest + least
    observed = sum(int(_excess(codes[:-fresh], codes[-fresh:]) * unit) for codes, fresh in informative)
    return min(1.0, float(chance[observed - lowest :].sum()))


def shift_p(pairs: Sequence[tuple[Sequence[float], Sequence[float]]], rng: np.random.Generator) -> float:
    """Two-sided p that the mean of fresh numbers differs from that of recorded ones by chance, (recorded, fresh) for
    each request; sampled with `rng`, the observed choice counted as one of the draws (Phipson & Smyth 2010)."""
    total, drawn = 0.0, np.zeros(DRAWS)
    for recorded, fresh in pairs:
        total += float(np.mean(fresh) - np.mean(recorded))
        values = _shifts((*recorded, *fresh), len(fresh))
        drawn += values[rng.integers(0, len(values), DRAWS)]
    tie = 1e-9 * max(1.0, abs(total))  # sums of the same numbers in another order are the same
    return float(np.sum(np.abs(drawn) >= abs(total) - tie) + 1) / (DRAWS + 1)


def _shifts(values: tuple[float, ...], fresh: int) -> NDArray[np.float64]:
    """The mean of those taken as fresh minus that of the others, for each way to take them."""
    whole, others = math.fsum(values), len(values) - fresh
    taken = [math.fsum(some) for some in combinations(values, fresh)]
    return np.array([some / fresh - (whole - some) / others for some in taken])


def _coded(pool: AnswerPool) -> tuple[tuple[int, ...], int]:
    """The answers as numbers by first appearance, recorded first, and how many are fresh: one pattern, one null."""
    codes: dict[Hashable, int] = {}
    return tuple(codes.setdefault(value, len(codes)) for value in (*pool.recorded, *pool.fresh)), len(pool.fresh)


@lru_cache(4096)
def _null(codes: tuple[int, ...], fresh: int) -> tuple[Fraction, ...]:
    """The excess for each way to take `fresh` of the answers as the fresh ones."""
    places = range(len(codes))
    return tuple(
        _excess([codes[i] for i in places if i not in some], [codes[i] for i in some])
        for some in combinations(places, fresh)
    )


def _excess(recorded: Sequence[Hashable], fresh: Sequence[Hashable]) -> Fraction:
    return _apart(recorded, fresh) - _noise(recorded, fresh)


def _apart(recorded: Sequence[Hashable], fresh: Sequence[Hashable]) -> Fraction:
    differing = sum(was != now for was in recorded for now in fresh)
    return Fraction(differing, len(recorded) * len(fresh))


def _noise(recorded: Sequence[Hashable], fresh: Sequence[Hashable]) -> Fraction:
    pairs = [*combinations(recorded, 2), *combinations(fresh, 2)]
    return Fraction(sum(one != other for one, other in pairs), len(pairs))


POWER: Final = 0.8
_ALONE: Final = 1 / 3
_STEADY: Final = 10  # counts are whole: power saws up and down, and must hold for this many sizes in a row


def power(size: int, change: float, floor: float, alpha: float) -> float:
    """Chance (0..1) that the exact test calls a `change` of the disagreement drift, over `size` requests."""
    drifted = min(1.0, change / (1 - floor))
    alone = (1 - drifted) * floor / 2 + drifted * (1 - floor)
    paired = (1 - drifted) * floor
    if alone + paired <= 0:
        return 0.0
    chance = pmf(size, min(1.0, alone + paired))
    odds = alone / (alone + paired)
    return float(sum(chance[t] * at_least(_least(t, alpha), t, odds) for t in range(size + 1) if chance[t] > 1e-9))


def bounded(size: int, change: float, floor: float) -> bool:
    """Whether an unchanged model would be seen to differ by less than `change`, with 80 % power: the disagreement is
    taken a little above the floor, as one sample in five has it."""
    unlucky = min(1.0, floor + normal_quantile(POWER) * (floor * (1 - floor) / size) ** 0.5)
    apart, noise = (Estimate(rate, *wilson_at(rate, size), size, size) for rate in (unlucky, floor))
    return difference(apart, noise)[2] < change


@cache
def needed(change: float, floor: float, alpha: float, most: int = 5000) -> int | None:
    """The fewest decisions that find a `change` with 80 % power, and no change as surely; None if `most` are too few.

    `change` and `floor` are fractions of disagreement; `alpha` is one-sided.
    """
    if not 0 < change < 1 - floor:
        return None

    def enough(size: int) -> bool:
        return bounded(size, change, floor) and power(size, change, floor, alpha) >= POWER

    low, high = 0, 8
    while not enough(high):
        low, high = high, 2 * high
        if low >= most:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    while failing := [more for more in range(_STEADY) if not enough(high + more)]:
        high += failing[-1] + 1
    return high if high <= most else None


@cache
def _least(trials: int, alpha: float) -> int:
    """The smallest x with P(Binomial(trials, 1/3) >= x) <= alpha; trials + 1 where there is none."""
    tails = np.cumsum(pmf(trials, _ALONE)[::-1])[::-1]
    return int(np.count_nonzero(tails > alpha))
