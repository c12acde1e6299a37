"""Power, smallest detectable drop and smallest significant number of losses."""

import math
from collections.abc import Hashable, Sequence
from functools import cache
from typing import Final

import numpy as np

from evals.statistics.distributions import at_least, least_rejected, pmf, t_quantile
from evals.statistics.intervals import codes
from evals.statistics.paired_tests import mcnemar

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
