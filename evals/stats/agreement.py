"""Agreement on an ordered scale: quadratic-weighted kappa, with an interval."""

from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evals.stats.draws import draws
from evals.stats.intervals import CONFIDENCE, RESAMPLES, Interval, percentiles

SEVERITIES: Final = ("LOW", "MEDIUM", "HIGH", "CRITICAL")


def quadratic_kappa(gold: Sequence[str], named: Sequence[str], scale: Sequence[str] = SEVERITIES) -> float | None:
    """Cohen's kappa with quadratic weights (Cohen 1968), -1..1; None where chance cannot disagree."""
    observed = np.zeros((1, len(scale), len(scale)))
    for wanted, got in zip(gold, named, strict=True):
        observed[0, scale.index(wanted), scale.index(got)] += 1
    kappa = float(_kappas(observed)[0])
    return None if np.isnan(kappa) else kappa


def bootstrap_kappa(
    gold: Sequence[str],
    named: Sequence[str],
    clusters: Sequence[Hashable],
    rng: np.random.Generator,
    *,
    scale: Sequence[str] = SEVERITIES,
    resamples: int = RESAMPLES,
) -> Interval | None:
    """Percentile interval when whole clusters are drawn; draws in which chance cannot disagree are left out. None below
    two clusters, and where no draw is left."""
    codes: dict[Hashable, int] = {}
    owners = [codes.setdefault(name, len(codes)) for name in clusters]
    if len(codes) < 2:
        return None
    tables = np.zeros((len(codes), len(scale), len(scale)))
    for owner, wanted, got in zip(owners, gold, named, strict=True):
        tables[owner, scale.index(wanted), scale.index(got)] += 1
    blocks = draws(len(codes), resamples, rng)
    drawn = np.concatenate([_kappas(np.tensordot(times, tables, axes=1)) for times in blocks])
    known = drawn[~np.isnan(drawn)]
    return percentiles(known, CONFIDENCE) if len(known) else None


def _kappas(observed: NDArray[np.float64]) -> NDArray[np.float64]:
    """One kappa per table (tables x gold x named); NaN where chance cannot disagree."""
    size = observed.shape[1]
    weights = (np.arange(size)[:, None] - np.arange(size)[None, :]) ** 2
    totals = observed.sum(axis=(1, 2))
    expected = observed.sum(axis=2)[:, :, None] * observed.sum(axis=1)[:, None, :]
    chance = (weights * expected).sum(axis=(1, 2))
    found = (weights * observed).sum(axis=(1, 2)) * totals
    kappas: NDArray[np.float64] = 1 - np.divide(found, chance, out=np.full(len(chance), np.nan), where=chance > 0)
    return kappas
