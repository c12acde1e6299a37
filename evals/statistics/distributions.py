"""Binomial and beta distribution and Student's t, exact, without scipy: it takes as long to load as a warm run."""

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

_FRACTION_STEPS: Final = 300  # of the continued fraction: far more than it ever takes
_TINY: Final = 1e-300
_CLOSE: Final = 1e-12


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b), for a, b > 0: Lentz's continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_cdf(1 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _FRACTION_STEPS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _away(1 + term * d)
            c = _away(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < _CLOSE:
            break
    return front * value / a


def _away(value: float) -> float:
    """The value, kept away from 0 so that it can be divided by."""
    return value if abs(value) > _TINY else _TINY


@lru_cache(4096)
def t_quantile(p: float, df: float) -> float:
    """The t with P(T <= t) = p for Student's distribution with `df` degrees of freedom (df > 0, 0 < p < 1)."""
    if p == 0.5:
        return 0.0
    if p < 0.5:
        return -t_quantile(1 - p, df)
    x = root(lambda x: beta_cdf(x, df / 2, 0.5) - 2 * (1 - p), 0.0, 1.0)
    return math.sqrt(df * (1 - x) / x) if x > 0 else math.inf


def t_cdf(t: float, df: float) -> float:
    """P(T <= t) of Student's distribution with `df` degrees of freedom."""
    if math.isinf(t):
        return float(t > 0)
    tail = beta_cdf(df / (df + t * t), df / 2, 0.5) / 2
    return tail if t < 0 else 1 - tail


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a monotone function changes its sign between `low` and `high`: the Illinois variant of false position."""
    at_low, at_high = function(low), function(high)
    if at_low == 0 or at_high == 0:
        return low if at_low == 0 else high
    rose = None
    for _ in range(_FRACTION_STEPS):
        if high - low < _CLOSE:
            break
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        middle = min(max(middle, low + _CLOSE / 2), high - _CLOSE / 2)  # off the ends, so that the bracket closes
        at_middle = function(middle)
        if at_middle == 0:
            return middle
        if (at_middle > 0) == (at_high > 0):
            high, at_high, at_low, rose = middle, at_middle, at_low if rose is not False else at_low / 2, False
        else:
            low, at_low, at_high, rose = middle, at_middle, at_high / 2 if rose else at_high, True
    return (low + high) / 2


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
