"""The exact test for graded scores: under the null, each cluster's difference is as likely to have the other sign."""

from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

RESAMPLES: Final = 9999
_AT_ONCE: Final = 500_000  # signs: 4 MB, however many clusters there are
_TIE: Final = 1e-12  # of the largest sum: sums of the same numbers in another order are the same


def sign_flip(differences: Sequence[float], clusters: Sequence[Hashable], rng: np.random.Generator) -> float | None:
    """One-sided p that the mean difference is below zero by chance (Fisher 1935), whole clusters flipped.

    Exact up to 13 clusters (2^n flips), sampled beyond; 1 when nothing differs; None for an empty sample.
    """
    sums: dict[Hashable, float] = {}
    for name, difference in zip(clusters, differences, strict=True):
        sums[name] = sums.get(name, 0.0) + difference
    if not sums:
        return None
    if not any(sums.values()):
        return 1.0
    values = np.array([*sums.values()])
    flips = 1 << len(values)
    drawn = min(flips, RESAMPLES)
    limit = values.sum() + _TIE * float(np.abs(values).sum())
    batch = max(1, _AT_ONCE // len(values))
    low = sum(
        int(np.sum(_signs(start, min(batch, drawn - start), len(values), rng) @ values <= limit))
        for start in range(0, drawn, batch)
    )
    if drawn == flips:
        return low / drawn
    return (low + 1) / (drawn + 1)  # what was seen is one of the draws (Phipson & Smyth 2010)


def _signs(start: int, count: int, clusters: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Rows of +1 and -1: those numbered from `start` where all are looked at, drawn ones where there are too many."""
    if 1 << clusters <= RESAMPLES:
        numbers = np.arange(start, start + count)[:, None]
        return np.where(numbers >> np.arange(clusters) & 1, -1.0, 1.0)
    return np.where(rng.random((count, clusters)) < 0.5, -1.0, 1.0)
