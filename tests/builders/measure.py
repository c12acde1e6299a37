"""Evidence for measures: traces scored by the real scorers."""

from collections.abc import Sequence
from typing import Any

from evals.comparison.assemble_run import case_info
from evals.comparison.variant_metrics import VariantTrials
from evals.models.case import Case
from evals.models.metrics import Calibration, Confusion, Measure, MeasureInfo, ReliabilityBin, ThresholdPoint, Twins
from evals.models.trace import Trace
from evals.scoring.registry import score_trials


def some_evidence(
    cases: Sequence[Case], traces: Sequence[Trace], variant: str = "v3", reference: str = "v2"
) -> VariantTrials:
    """What v3 did, beside what v2 did."""
    by_id = {case.id: case for case in cases}
    return VariantTrials(variant, reference, {case.id: case_info(case) for case in cases}, score_trials(by_id, traces))


def a_measure(name: str = "severity.kappa", variant: str = "v2", **fields: Any) -> Measure:
    """One measure of eight trials, all on the tape."""
    return Measure.model_validate(
        {"variant": variant, "name": name, "value": 0.5, "low": 0.25, "high": 0.75, "n": 8, "of": 8, **fields}
    )


def a_measure_info(name: str = "severity.kappa", **fields: Any) -> MeasureInfo:
    """How the report explains it."""
    told = {"unit": "kappa", "better": "higher", "counted": "trials", "definition": f"What {name} means."}
    return MeasureInfo.model_validate({"name": name, **told, **fields})


def a_bin(low: float, n: int, correct: int, mean: float | None = None) -> ReliabilityBin:
    """Answers with a confidence from `low` to `low` + 0.1."""
    return ReliabilityBin(
        low=low,
        high=low + 0.1,
        n=n,
        correct=correct,
        mean_confidence=mean if mean is not None or not n else low + 0.05,
        accuracy_low=0.2 if n else None,
        accuracy_high=0.9 if n else None,
    )


def a_threshold(threshold: float, covered: int, correct: int, n: int = 10) -> ThresholdPoint:
    """What holds from this confidence on."""
    known = {"low": 0.2, "high": 0.6} if covered else {"low": None, "high": None}
    return ThresholdPoint(threshold=threshold, covered=covered, n=n, correct=correct, **known)


def a_calibration(variant: str = "v3", **fields: Any) -> Calibration:
    """Ten answers, half of them right."""
    told = {
        "n": 10,
        "of": 12,
        "bins": (a_bin(0.6, 4, 1), a_bin(0.7, 0, 0), a_bin(0.8, 6, 4)),
        "thresholds": (a_threshold(0.5, 10, 5), a_threshold(0.95, 0, 0)),
        "risk_coverage": (a_threshold(0.8, 4, 3), a_threshold(0.6, 10, 5)),
    }
    return Calibration.model_validate({"variant": variant, "source": "supervisor", **told, **fields})


def some_twins(pair: str, variant: str, *values: float | None) -> Twins:
    """A pair of an injected and a clean case."""
    return Twins(
        pair_id=pair,
        variant=variant,
        endpoint="route.pass",
        cases=(pair, f"{pair}-clean"),
        slices=("prompt_injection", "local_bug"),
        values=values,
        consistent=None if None in values else len(set(values)) == 1,
    )


def a_confusion(
    variant: str = "v3", *cells: tuple[str, str, int, float], decisions: str = "frozen states", of: int = 12
) -> Confusion:
    """The counts of (row, column, count, credit); one right choice of the critic unless told otherwise."""
    counted = cells or (("critic", "critic", 1, 1.0),)
    told = [{"row": row, "column": column, "count": count, "credit": credit} for row, column, count, credit in counted]
    n = sum(cell[2] for cell in counted)
    return Confusion.model_validate({"variant": variant, "decisions": decisions, "cells": told, "n": n, "of": of})
