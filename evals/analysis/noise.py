"""Noise of repeated runs: how often a gate on means turns red by chance, and the smallest drop that gates see."""

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist, fmean, variance
from typing import Final, NamedTuple

from evals.errors import CannotJudgeError
from evals.statistics.distributions import normal_quantile, t_quantile, upper_limit
from evals.statistics.paired_tests import POWER, minimum_detectable_drop

CONFIDENCE: Final = 0.95
MOST_CASES: Final = 20_000
"""More are not looked for."""


class MeanGate(NamedTuple):
    """A gate without a test: red if a run's mean is below `threshold`, or more than `drop` below that of another run.
    Both are fractions; without a threshold only means are compared."""

    threshold: float | None = None
    drop: float = 0.0


class ChanceRate(NamedTuple):
    """Share of runs (0 to 1), with a 95 % interval: the mean of the runs is itself an estimate."""

    rate: float
    low: float
    high: float


class MetricNoise(NamedTuple):
    """What chance does to one metric, whose values lie between 0 and 1. Every drop is a fraction, and one that is seen
    in 80 of 100 runs; None where there is none."""

    metric: str
    cases: int
    runs: int
    """Values of the case that has the fewest."""
    mean: float
    spread: float
    """Standard deviation of the mean of one run."""
    most_changing: float
    """At most this share of the cases changes between two runs (95 %, Clopper & Pearson 1934)."""
    below_threshold: ChanceRate | None
    """Runs whose mean is below the threshold although nothing changed."""
    threshold_drop: float | None
    """The smallest drop that the threshold sees."""
    fell: float
    """Share of pairs of unchanged runs in which the second mean is lower by more than the allowed drop."""
    mean_drop: float
    """The smallest drop that a comparison of two means sees."""
    paired_drop: float | None
    """The smallest drop that a paired test of one run against another sees."""
    enough_cases: int | None
    """Cases with which a paired test sees a drop of the margin."""
    enough_repeats: int | None
    """Repeats of these cases, on either side, with which it does so if the drop is spread over all of them."""


def noise_of(
    metric: str, values: Mapping[str, Sequence[float]], gate: MeanGate, *, alpha: float, margin: float
) -> MetricNoise:
    """The noise of a metric; `values`: case -> its value in each run.

    The mean of a run is taken as normal around the mean of the cases, with the unbiased variances of the cases; where
    values are 0 or 1, its steps of one case are corrected for. The cases are taken as they are: chance is in the
    answers, not in the choice of cases.

    Raises:
        CannotJudgeError: no case has two values.
    """
    spreads = [variance(repeats) for repeats in values.values() if len(repeats) > 1]
    if not spreads:
        raise CannotJudgeError(f"{metric}: one value per case says nothing of noise; give several runs, or repeats")
    count, means = len(values), [fmean(repeats) for repeats in values.values()]
    noise = fmean(spreads)
    mean, spread = fmean(means), math.sqrt(noise / count)
    runs = min(len(repeats) for repeats in values.values())
    error = math.sqrt(noise * fmean(1 / len(repeats) for repeats in values.values()) / count)
    binary = all(value in (0, 1) for repeats in values.values() for value in repeats)
    step = 1 / count if binary else 0.0
    seen = normal_quantile(POWER)
    fall = _reached(-gate.drop, step)
    beside_drop = (
        noise + margin * (1 - margin) / 2 * binary
    )  # on average of both sides: what fails now and then is noise
    rate = threshold_drop = None
    if gate.threshold is not None:
        limit, wide = _reached(gate.threshold, step), normal_quantile((1 + CONFIDENCE) / 2) * error
        rate = ChanceRate(*(_below(limit, mean + shift, spread) for shift in (0.0, wide, -wide)))
        threshold_drop = max(0.0, mean - limit + seen * spread)
    changing = sum(len(set(repeats)) > 1 for repeats in values.values())
    return MetricNoise(
        metric=metric,
        cases=count,
        runs=runs,
        mean=mean,
        spread=spread,
        most_changing=upper_limit(changing, count, CONFIDENCE),
        below_threshold=rate,
        threshold_drop=threshold_drop,
        fell=_below(fall, 0.0, spread * math.sqrt(2)),
        mean_drop=max(0.0, -fall + seen * spread * math.sqrt(2)),
        paired_drop=_paired_drop(count, noise, alpha, binary=binary),
        enough_cases=_fewest(lambda cases: _sees(_paired_drop(cases, noise, alpha, binary=binary), margin)),
        enough_repeats=_fewest(lambda times: _graded_drop(count, beside_drop / times, alpha) <= margin),
    )


def _reached(limit: float, step: float) -> float:
    """Where a continuous distribution has to be cut for what lies below `limit` on a grid of `step`."""
    return (math.ceil(round(limit / step, 6)) - 0.5) * step if step else limit


def _below(limit: float, mean: float, spread: float) -> float:
    return NormalDist(mean, spread).cdf(limit) if spread else float(mean < limit)


def _paired_drop(cases: int, noise: float, alpha: float, *, binary: bool) -> float | None:
    """Smallest drop of a paired test: of cases that pass or fail each changes by itself with the chance p (1 - p) in
    either direction, which is their variance."""
    return minimum_detectable_drop(cases, churn=noise, alpha=alpha) if binary else _graded_drop(cases, noise, alpha)


def _graded_drop(cases: int, noise: float, alpha: float) -> float:
    """Smallest mean drop of grades, seen by a t test of differences whose variance is twice the noise."""
    if cases < 2:
        return math.inf
    quantiles = t_quantile(1 - alpha, cases - 1) + t_quantile(POWER, cases - 1)
    return quantiles * math.sqrt(2 * noise / cases)


def _sees(drop: float | None, margin: float) -> bool:
    return drop is not None and drop <= margin


def _fewest(enough: Callable[[int], bool]) -> int | None:
    """The smallest number that is enough, where each larger one is; None above the most that are looked for."""
    high = 1
    while not enough(high):
        if high >= MOST_CASES:
            return None
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
