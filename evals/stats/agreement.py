"""Agreement on an ordered scale: quadratic-weighted kappa, and under-triage apart from over-triage."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SEVERITIES = ("LOW", "MEDIUM", "HIGH", "CRITICAL")


def quadratic_kappa(gold: Sequence[str], named: Sequence[str], scale: Sequence[str] = SEVERITIES) -> float | None:
    """Cohen's kappa with quadratic weights (Cohen 1968), -1..1; None where chance cannot disagree."""
    size = len(scale)
    observed = np.zeros((size, size))
    for wanted, got in zip(gold, named, strict=True):
        observed[scale.index(wanted), scale.index(got)] += 1
    weights = (np.arange(size)[:, None] - np.arange(size)[None, :]) ** 2
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / max(observed.sum(), 1)
    chance = float((weights * expected).sum())
    return 1 - float((weights * observed).sum()) / chance if chance else None


@dataclass(frozen=True)
class Triage:
    """How many of `total` issues were rated as labelled, too low, or too high."""

    total: int
    exact: int
    under: int
    over: int


def triage_counts(gold: Sequence[str], named: Sequence[str], scale: Sequence[str] = SEVERITIES) -> Triage:
    """Count exact, under- and over-triage; under-triage is the dangerous one."""
    gaps = [scale.index(got) - scale.index(wanted) for wanted, got in zip(gold, named, strict=True)]
    return Triage(len(gaps), sum(g == 0 for g in gaps), sum(g < 0 for g in gaps), sum(g > 0 for g in gaps))
