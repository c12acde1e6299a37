"""Clusters drawn with replacement, as often as there are: what every bootstrap here rests on."""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

_AT_ONCE: Final = 500_000  # numbers drawn: 4 MB


def draws(clusters: int, resamples: int, rng: np.random.Generator) -> Iterator[NDArray[np.float64]]:
    """How often each cluster is drawn per resample (draws x clusters), in blocks: many cases take no more memory."""
    rows = max(1, _AT_ONCE // clusters)
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        places = rng.integers(0, clusters, size=(count, clusters)) + clusters * np.arange(count)[:, None]
        yield np.bincount(places.ravel(), minlength=count * clusters).reshape(count, clusters).astype(float)
