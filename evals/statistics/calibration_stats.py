"""Calibration of stated confidence (Brier, ECE, reliability) and weighted kappa."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evals.statistics.intervals import CONFIDENCE, RESAMPLES, Interval, draws, percentiles, rate_interval
from evals.statistics.paired_tests import difference_interval

BINS: Final = 10
NULL_DRAWS: Final = 2000


def paired_brier(
    reference: Sequence[tuple[float, bool]], candidate: Sequence[tuple[float, bool]], clusters: Sequence[Hashable]
) -> tuple[float, Interval | None] | None:
    """Difference of Brier scores (Brier 1950), means of (confidence - correct)², on the same cases; None for none.

    One (confidence, correct) per case and side; positive: the candidate is worse.
    """
    was = _losses([c for c, _ in reference], [y for _, y in reference])
    now = _losses([c for c, _ in candidate], [y for _, y in candidate])
    changes = [after - before for before, after in zip(was, now, strict=True)]
    return (sum(changes) / len(changes), difference_interval(changes, clusters)) if changes else None


def _losses(confidences: Sequence[float], correct: Sequence[bool]) -> list[float]:
    return [(confidence - right) ** 2 for confidence, right in zip(confidences, correct, strict=True)]


@dataclass(frozen=True)
class Bin:
    """One bar of a reliability diagram: `count` answers with a confidence in [low, high), the last bin closed."""

    low: float
    high: float
    count: int
    correct: int
    mean_confidence: float | None


def reliability(confidences: Sequence[float], correct: Sequence[bool], bins: int = BINS) -> tuple[Bin, ...]:
    """Answers in bins of equal width over 0..1; empty bins are kept, without a mean."""
    places = _places(confidences, bins)
    right = np.asarray(correct, dtype=float)
    rows = []
    for place in range(bins):
        inside = places == place
        count = int(inside.sum())
        average = float(np.mean(np.asarray(confidences)[inside])) if count else None
        rows.append(Bin(place / bins, (place + 1) / bins, count, int(right[inside].sum()), average))
    return tuple(rows)


def ece(confidences: Sequence[float], correct: Sequence[bool], bins: int = BINS) -> float | None:
    """Expected calibration error Σ (n_b / n)·|accuracy_b - mean confidence_b| (Naeini 2015); None if empty."""
    if not len(confidences):
        return None
    return float(_ece(np.asarray(confidences), np.asarray([correct], dtype=float), bins)[0])


def ece_null_band(
    confidences: Sequence[float],
    rng: np.random.Generator,
) -> Interval | None:
    """The ECE a perfectly calibrated speaker of these very confidences would show by chance; None for an empty sample.

    Outcomes are drawn as Bernoulli(confidence). With few answers ECE is far above 0 even then: only above the band is
    it evidence.
    """
    if not len(confidences):
        return None
    stated = np.asarray(confidences)
    outcomes = (rng.random((NULL_DRAWS, len(stated))) < stated).astype(float)
    return percentiles(_ece(stated, outcomes, BINS), CONFIDENCE)


def _places(confidences: Sequence[float] | NDArray[np.float64], bins: int) -> NDArray[np.int64]:
    # rounded first: 0.29 * 100 is just below 29 in binary, and 0.29 belongs to the bin that starts there
    scaled = np.floor(np.round(np.asarray(confidences, dtype=float) * bins, 9)).astype(np.int64)
    return np.minimum(scaled, bins - 1)


def _ece(stated: NDArray[np.float64], outcomes: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """One ECE per row of `outcomes` (draws x answers)."""
    member = np.eye(bins)[_places(stated, bins)]  # answers x bins
    gaps: NDArray[np.float64] = np.abs((outcomes - stated) @ member).sum(axis=1) / len(stated)
    return gaps


@dataclass(frozen=True)
class AboveThreshold:
    """What holds for answers with confidence >= threshold: how many of `total` they are, and how often right."""

    threshold: float
    covered: int
    total: int
    correct: int
    interval: Interval | None


def above_threshold(confidences: Sequence[float], correct: Sequence[bool], threshold: float) -> AboveThreshold:
    """P(correct | confidence >= threshold) as counts, with the interval of a rate; none where nothing is covered."""
    covered = [right for stated, right in zip(confidences, correct, strict=True) if stated >= threshold]
    hits = sum(covered)
    return AboveThreshold(threshold, len(covered), len(confidences), hits, rate_interval(hits, len(covered)))


def risk_coverage(confidences: Sequence[float], correct: Sequence[bool]) -> tuple[AboveThreshold, ...]:
    """The risk-coverage curve, one point per distinct confidence, highest first; risk is 1 - correct / covered."""
    return tuple(above_threshold(confidences, correct, level) for level in sorted(set(confidences), reverse=True))


def quadratic_kappa(gold: Sequence[str], named: Sequence[str], scale: Sequence[str]) -> float | None:
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
    scale: Sequence[str],
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
