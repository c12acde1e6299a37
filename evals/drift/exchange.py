"""Do fresh answers differ from recorded ones more than answers to one request differ anyway: an exact test.

Under the null the k recorded and m fresh answers to one request are draws from one distribution, so any m of the k + m
may as well be the fresh ones: all choices are equally likely, whatever the distribution is and however it differs from
request to request (a permutation test: Fisher 1935, Pitman 1937). Given the requests, answers are drawn one by one, so
this holds whatever the requests of a case have in common.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

DRAWS: Final = 9999


@dataclass(frozen=True)
class Pool:
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


def exceeds_p(pools: Sequence[Pool]) -> float:
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


def _coded(pool: Pool) -> tuple[tuple[int, ...], int]:
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
