"""The exact test for graded scores: under the null, each cluster's difference is as likely to have the other sign."""

from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np
from scipy.stats import permutation_test  # type: ignore[import-untyped]  # scipy ships no types

RESAMPLES: Final = 9999
_AT_ONCE: Final = 500_000  # signs: 4 MB, however many clusters there are


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
    if len(values) == 1:
        return 0.5 if values[0] < 0 else 1.0  # two flips there are
    found = permutation_test(
        (values,),
        np.mean,
        permutation_type="samples",
        alternative="less",
        n_resamples=RESAMPLES,
        batch=max(1, _AT_ONCE // len(values)),
        rng=rng,
        axis=0,
    )
    return float(found.pvalue)
