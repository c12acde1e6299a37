"""Whether stated confidence can be believed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, precision_recall_curve

from evals.statistics.calibration_stats import (
    above_threshold,
    ece,
    ece_null_band,
    paired_brier,
    reliability,
    risk_coverage,
)

answers = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40)


def test_an_empty_sample_has_no_calibration():
    rng = np.random.default_rng(0)

    assert (ece([], []), ece_null_band([], rng), paired_brier([], [], [])) == (None,) * 3


def test_paired_brier_is_positive_for_the_worse_candidate():
    reference, candidate = [(0.9, True), (0.2, False)], [(0.6, True), (0.7, False)]

    difference, _ = paired_brier(reference, candidate, "ab")

    assert difference == pytest.approx(((0.16 - 0.01) + (0.49 - 0.04)) / 2)


def test_ece_by_hand():
    """Two bins hold two answers each: |0.5 - 0.85| and |0.5 - 0.25|, weighted by half."""
    assert ece([0.8, 0.9, 0.2, 0.3], [True, False, False, True], bins=2) == pytest.approx(0.3)


@given(answers)
def test_ece_is_what_the_reliability_diagram_shows(sample):
    stated, right = [c for c, _ in sample], [y for _, y in sample]
    bars = [bar for bar in reliability(stated, right) if bar.count]

    gaps = sum(abs(bar.correct - bar.count * bar.mean_confidence) for bar in bars) / len(sample)
    assert ece(stated, right) == pytest.approx(gaps)


@given(answers)
def test_every_answer_stands_in_exactly_one_bar(sample):
    bars = reliability([c for c, _ in sample], [y for _, y in sample])

    assert sum(bar.count for bar in bars) == len(sample)


@pytest.mark.parametrize("bins", [5, 10, 20, 100])
def test_a_confidence_on_an_edge_belongs_to_the_bar_that_starts_there(bins):
    """Even where binary arithmetic falls short: 0.29 * 100 is 28.999999999999996."""
    bars = reliability([edge / bins for edge in range(bins)], [True] * bins, bins)

    assert [bar.count for bar in bars] == [1] * bins


def test_the_last_bar_holds_full_confidence():
    assert reliability([1.0], [True])[-1].count == 1


def test_a_calibrated_speaker_falls_inside_the_null_band_and_a_boaster_outside():
    rng = np.random.default_rng(3)
    stated = rng.uniform(0.5, 1, 200)
    honest = rng.random(200) < stated
    band = ece_null_band(stated, rng)

    assert band.low <= ece(stated, honest) <= band.high < ece(stated, rng.random(200) < 0.4)


def test_few_answers_have_a_wide_null_band():
    """With ten answers even a calibrated speaker shows an ECE far above nought."""
    band = ece_null_band([0.7] * 10, np.random.default_rng(3))

    assert band.high > 0.2


def test_above_a_threshold_counts_are_kept():
    found = above_threshold([0.9, 0.85, 0.6], [True, False, True], 0.85)

    assert (found.covered, found.total, found.correct) == (2, 3, 1)


def test_above_an_unreached_threshold_nothing_is_claimed():
    assert above_threshold([0.5], [True], 0.85).interval is None


def test_the_risk_coverage_curve_takes_equal_confidences_together():
    curve = risk_coverage([0.9, 0.5, 0.9], [True, False, False])

    assert [(point.covered, point.correct) for point in curve] == [(2, 1), (3, 1)]


@settings(deadline=None)
@given(answers)
def test_paired_brier_is_the_difference_of_scikit_learns_scores(sample):
    stated, right = [c for c, _ in sample], [y for _, y in sample]
    unsure = [0.5] * len(sample)
    scores = [brier_score_loss(right, told, labels=[False, True]) for told in (unsure, stated)]

    difference, _ = paired_brier([(0.5, y) for y in right], sample, range(len(sample)))

    assert difference == pytest.approx(scores[1] - scores[0])


def test_the_reliability_diagram_is_scikit_learns_calibration_curve():
    rng = np.random.default_rng(4)
    stated = rng.random(300)
    right = rng.random(300) < stated
    accuracy, confidence = calibration_curve(right, stated, n_bins=10)
    bars = reliability(stated, right)

    assert [bar.correct / bar.count for bar in bars] == pytest.approx([*accuracy])
    assert [bar.mean_confidence for bar in bars] == pytest.approx([*confidence])


def test_the_risk_coverage_curve_is_scikit_learns_precision_by_threshold():
    """Precision at each threshold is 1 - risk; its first point is the whole sample."""
    rng = np.random.default_rng(4)
    stated = rng.random(50)
    right = rng.random(50) < stated
    precision, _, thresholds = precision_recall_curve(right, stated)
    curve = {point.threshold: point.correct / point.covered for point in risk_coverage(stated, right)}

    assert [curve[threshold] for threshold in thresholds] == pytest.approx([*precision[:-1]])
