"""Clusters drawn with replacement, as often as there are: what every bootstrap here rests on."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_AT_ONCE: Final = 500_000  # numbers drawn: 4 MB
_KEPT: Final = 16
"""Sets of draws that are kept: every interval of a run is drawn from the same seed, for a few numbers of clusters."""

Times = NDArray[np.float64]


def draws(clusters: int, resamples: int, rng: np.random.Generator) -> Iterator[Times]:
    """How often each cluster is drawn per resample (draws x clusters), in blocks: many cases take no more memory.

    A single block is kept; whoever draws it again, from a generator in the same state, gets it as it was. Not to be
    written to.
    """
    rows = max(1, _AT_ONCE // clusters)
    if resamples <= rows:
        yield _again(clusters, resamples, rng)
        return
    for start in range(0, resamples, rows):
        yield _drawn(clusters, min(rows, resamples - start), rng)


def _again(clusters: int, count: int, rng: np.random.Generator) -> Times:
    """The block, drawn now or earlier; the generator stands where drawing leaves it."""
    key = clusters, count, repr(rng.bit_generator.state)
    if key not in _kept:
        if len(_kept) == _KEPT:
            del _kept[next(iter(_kept))]
        times = _drawn(clusters, count, rng)
        times.flags.writeable = False
        _kept[key] = times, rng.bit_generator.state
    times, rng.bit_generator.state = _kept[key]
    return times


_kept: Final[dict[tuple[int, int, str], tuple[Times, Any]]] = {}


def _drawn(clusters: int, count: int, rng: np.random.Generator) -> Times:
    places = rng.integers(0, clusters, size=(count, clusters)) + clusters * np.arange(count)[:, None]
    return np.bincount(places.ravel(), minlength=count * clusters).reshape(count, clusters).astype(float)
