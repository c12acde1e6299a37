"""How many decisions have to be asked again, so that a change of a given size is seen and its absence as well.

Model: two answers of the same model to one request differ with probability f (the floor); a share d / (1 - f) of all
requests is answered otherwise now, so that fresh answers differ from recorded ones with probability f + d. Of three
answers to one request (two recorded and a fresh one, or the other way round) at most one is odd. Then the exact test of
`exchange` counts how often the odd one stands alone on its side: under the null that is one in three. More answers on
tape only help.
"""

from functools import cache
from typing import Final

import numpy as np

from evals.drift.survey import Estimate, difference, wilson_at
from evals.stats.binomial import at_least, normal_quantile, pmf

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
