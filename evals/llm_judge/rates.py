"""Rates with their intervals, and balanced accuracy over clusters of cases."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evals.judging.summary import SEED
from evals.models.judged import Rate
from evals.stats.draws import draws
from evals.stats.intervals import CONFIDENCE, RESAMPLES, Interval, percentiles, rate_interval, varied

Outcomes = Sequence[tuple[str, bool]]
"""What became of each plant: the cluster of its case, and whether the judge was right."""


def rate(outcomes: Sequence[bool]) -> Rate:
    """How many are true, with its interval."""
    hits, n = sum(outcomes), len(outcomes)
    low, high = rate_interval(hits, n) or (None, None)
    return Rate(hits=hits, n=n, low=low, high=high)


def balanced_accuracy(caught: Outcomes, spared: Outcomes) -> tuple[float, Interval] | None:
    """The mean of the two rates, and its 95 % interval when whole clusters are drawn; None where either has nothing.

    Where no draw differs from another, the interval is put together from those of both rates (the square-and-add of
    Newcombe 1998): nothing that varied is no proof that nothing can.
    """
    if not caught or not spared:
        return None
    one, other = rate([ok for _, ok in caught]), rate([ok for _, ok in spared])
    mean = ((one.share or 0.0) + (other.share or 0.0)) / 2
    return mean, varied(_drawn(caught, spared)) or _added(one, other)


def _drawn(caught: Outcomes, spared: Outcomes) -> Interval | None:
    clusters = sorted({cluster for cluster, _ in (*caught, *spared)})
    if len(clusters) < 2:
        return None
    places = {cluster: number for number, cluster in enumerate(clusters)}
    found: list[NDArray[np.float64]] = []
    tables = [_table(outcomes, places) for outcomes in (caught, spared)]
    for times in draws(len(clusters), RESAMPLES, np.random.default_rng(SEED)):
        shares = []
        for right, all_ in tables:
            drawn = times @ all_
            shares.append(np.divide(times @ right, drawn, out=np.full(len(drawn), np.nan), where=drawn > 0))
        found.append((shares[0] + shares[1]) / 2)
    means = np.concatenate(found)
    known = means[~np.isnan(means)]
    return percentiles(known, CONFIDENCE) if len(known) else None


def _table(outcomes: Outcomes, places: dict[str, int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Per cluster, how many were right, and how many there are."""
    owners = [places[cluster] for cluster, _ in outcomes]
    right = np.bincount(owners, weights=[float(ok) for _, ok in outcomes], minlength=len(places))
    return right.astype(np.float64), np.bincount(owners, minlength=len(places)).astype(np.float64)


def _added(one: Rate, other: Rate) -> Interval:
    first, second = one.share or 0.0, other.share or 0.0
    mean = (first + second) / 2
    down = math.hypot(first - (one.low or 0.0), second - (other.low or 0.0)) / 2
    up = math.hypot((one.high or 0.0) - first, (other.high or 0.0) - second) / 2
    return Interval(max(0.0, mean - down), min(1.0, mean + up))
