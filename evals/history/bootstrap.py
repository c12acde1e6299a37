"""The cluster bootstrap of `evals.stats.macro` for many baselines at once: the clusters are drawn once for all of them.

One by one, nearly all of the time would go into drawing the same clusters again. The tests hold every interval against
those of the one by one.
"""

from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evals.judging.summary import SEED
from evals.stats.draws import draws
from evals.stats.intervals import CONFIDENCE, RESAMPLES, Interval, percentiles
from evals.stats.macro import graded_interval

_AT_ONCE: Final = 64  # rows: 4000 draws of four gold nodes in each are 8 MB

Row = tuple[float, ...]


def graded_intervals(
    rows: Sequence[Row], groups: Sequence[Hashable], clusters: Sequence[Hashable]
) -> dict[Row, Interval | None]:
    """`graded_interval` of each distinct row of grades. All are of the same states: one group and cluster id each."""
    found = {}
    varied = []
    for row in dict.fromkeys(rows):
        if len(set(row)) < 2 or len(set(groups)) < 2 or len(set(clusters)) < 2:
            found[row] = graded_interval(row, groups, clusters, np.random.default_rng(SEED))
        else:
            varied.append(row)
    found.update(zip(varied, _together(varied, _codes(groups), _codes(clusters)), strict=True))
    return found


def _together(rows: Sequence[Row], group: Sequence[int], owner: Sequence[int]) -> list[Interval]:
    """Intervals of macro-averages; every row is averaged over the same draws."""
    if not rows:
        return []
    names, kinds = max(owner) + 1, max(group) + 1
    times = np.concatenate(list(draws(names, RESAMPLES, np.random.default_rng(SEED))))
    sizes = np.zeros((names, kinds))
    np.add.at(sizes, (owner, group), 1)
    drawn = times @ sizes  # draws x groups
    return [
        percentiles(column, CONFIDENCE)
        for start in range(0, len(rows), _AT_ONCE)
        for column in _averages(rows[start : start + _AT_ONCE], group, owner, times, drawn).T
    ]


def _averages(
    rows: Sequence[Row],
    group: Sequence[int],
    owner: Sequence[int],
    times: NDArray[np.float64],
    drawn: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Draws x rows: the mean over groups of the mean inside each; a group that nobody drew is left out."""
    sums = np.zeros((times.shape[1], drawn.shape[1], len(rows)))
    np.add.at(sums, (owner, group), np.asarray(rows).T)
    average = np.zeros((len(times), len(rows)))
    for kind in range(drawn.shape[1]):
        inside = times @ sums[:, kind]
        there = drawn[:, kind : kind + 1]
        average += np.divide(inside, there, out=np.zeros_like(inside), where=there > 0)
    found: NDArray[np.float64] = average / (drawn > 0).sum(axis=1, keepdims=True)
    return found


def _codes(names: Sequence[Hashable]) -> list[int]:
    """Numbers for names, in order of appearance."""
    codes: dict[Hashable, int] = {}
    return [codes.setdefault(name, len(codes)) for name in names]
