"""Exact binomial distribution and tests."""

import math
from collections.abc import Iterator
from functools import lru_cache
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

_STEPS: Final = 60  # halvings of 0..1: closer than a float can say


def normal_quantile(p: float) -> float:
    """Z with P(Z <= z) = p, for 0 < p < 1."""
    return NormalDist().inv_cdf(p)


@lru_cache(4096)
def at_least(count: int, trials: int, p: float = 0.5) -> float:
    """P(X >= count) of Binomial(trials, p)."""
    if count <= 0:
        return 1.0
    return min(1.0, math.fsum(pmf(trials, p)[count:]))


def at_most(count: int, trials: int, p: float = 0.5) -> float:
    """P(X <= count) of Binomial(trials, p)."""
    return at_least(trials - count, trials, 1 - p)


@lru_cache(512)
def pmf(trials: int, p: float) -> NDArray[np.float64]:
    """P(X = 0), ..., P(X = trials) of Binomial(trials, p)."""
    if p in (0.0, 1.0):
        certain = np.zeros(trials + 1)
        certain[round(trials * p)] = 1.0
        return certain
    if p == 0.5:
        return np.array(list(_of_a_coin(trials)))
    counts = np.arange(trials + 1)
    factorials = np.array([math.lgamma(k + 1) for k in counts])
    ways = factorials[-1] - factorials - factorials[::-1]
    found: NDArray[np.float64] = np.exp(ways + counts * math.log(p) + (trials - counts) * math.log1p(-p))
    return found


def _of_a_coin(trials: int) -> Iterator[float]:
    """Each probability as exact as a float is: whole numbers until the last division."""
    ways, of = 1, 2**trials
    for k in range(trials + 1):
        yield ways / of
        ways = ways * (trials - k) // (k + 1)


def upper_limit(count: int, trials: int, confidence: float) -> float:
    """The one-sided upper limit of a rate (Clopper & Pearson 1934): the p at which `count` or fewer of `trials` has the
    probability 1 - confidence; 1 where all succeeded."""
    if count == trials:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if at_most(count, trials, middle) > 1 - confidence else (low, middle)
    return (low + high) / 2


def two_sided(count: int, trials: int) -> float:
    """P of the exact two-sided test of p = 1/2: both tails, since they are alike."""
    return min(1.0, 2 * at_least(max(count, trials - count), trials))


def least_rejected(trials: int, alpha: float) -> int:
    """The smallest x with P(Binomial(trials, 1/2) >= x) <= alpha; trials + 1 where there is none."""
    low, high = -1, trials + 1  # the tail falls with x: not yet at `low`, surely at `high`
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if at_least(middle, trials) <= alpha else (middle, high)
    return high
