"""What a stratified sample says of all requests: weighted shares and means with intervals, clustered by case."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evals.stats.binomial import normal_quantile
from evals.stats.intervals import CONFIDENCE


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
