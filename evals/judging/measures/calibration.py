"""The tables behind a reliability diagram, a risk-coverage curve and P(correct | c ≥ threshold)."""

from typing import Final

from evals.judging.measures.evidence import Evidence
from evals.models.measure import Calibration, ReliabilityBin, Source, ThresholdPoint
from evals.stats.calibration import AboveThreshold, Bin, above_threshold, reliability, risk_coverage
from evals.stats.intervals import rate_interval

THRESHOLDS: Final = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
"""Those people set; 0.70 and 0.85 are the prompts' own."""


def calibration_of(evidence: Evidence, source: Source) -> Calibration:
    """One source of confidence of one variant."""
    answers = evidence.answers(source)
    stated, correct = [answer.confidence for answer in answers], [answer.correct for answer in answers]
    return Calibration(
        variant=evidence.variant,
        source=source,
        n=len(answers),
        of=len(answers) + evidence.open(),
        bins=tuple(_bin(each) for each in reliability(stated, correct)) if answers else (),
        thresholds=tuple(_point(above_threshold(stated, correct, threshold)) for threshold in THRESHOLDS),
        risk_coverage=tuple(_point(point) for point in risk_coverage(stated, correct)),
    )


def _bin(found: Bin) -> ReliabilityBin:
    low, high = rate_interval(found.correct, found.count) or (None, None)
    return ReliabilityBin(
        low=found.low,
        high=found.high,
        n=found.count,
        correct=found.correct,
        mean_confidence=found.mean_confidence,
        accuracy_low=low,
        accuracy_high=high,
    )


def _point(found: AboveThreshold) -> ThresholdPoint:
    low, high = found.interval or (None, None)
    return ThresholdPoint(
        threshold=found.threshold, covered=found.covered, n=found.total, correct=found.correct, low=low, high=high
    )
