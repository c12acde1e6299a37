"""Whether stated confidence can be believed: paired Brier, reliability, ECE beside what chance gives, thresholds."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evals.stats.intervals import CONFIDENCE, Interval, percentiles, rate_interval
from evals.stats.paired import difference_interval

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
    *,
    bins: int = BINS,
    confidence: float = CONFIDENCE,
    draws: int = NULL_DRAWS,
) -> Interval | None:
    """The ECE a perfectly calibrated speaker of these very confidences would show by chance; None for an empty sample.

    Outcomes are drawn as Bernoulli(confidence). With few answers ECE is far above 0 even then: only above the band is
    it evidence.
    """
    if not len(confidences):
        return None
    stated = np.asarray(confidences)
    outcomes = (rng.random((draws, len(stated))) < stated).astype(float)
    return percentiles(_ece(stated, outcomes, bins), confidence)


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
