"""Rates and balanced accuracy, pinned to numbers worked out by hand."""

import pytest

from evals.llm_judge.grade_statistics import balanced_accuracy, rate
from evals.statistics.intervals import rate_interval


def test_a_rate_has_its_interval():
    found = rate([True] * 7 + [False] * 3)
    low, high = rate_interval(7, 10)

    assert (found.hits, found.n) == (7, 10)
    assert (found.low, found.high) == (low, high)


def test_a_rate_of_nothing_is_no_rate():
    assert rate([]).share is None
    assert rate([]).low is None


def test_balanced_accuracy_is_the_mean_of_both_rates_however_many_each_rests_on():
    caught = [(f"c{n}", n < 6) for n in range(10)]
    spared = [(f"c{n}", n < 36) for n in range(40)]
    mean, interval = balanced_accuracy(caught, spared)

    assert mean == pytest.approx((0.6 + 0.9) / 2)
    assert interval.low < mean < interval.high


def test_seeing_all_is_no_proof_of_seeing_all():
    mean, interval = balanced_accuracy([("a", True)] * 5, [("b", True)] * 5)

    assert mean == 1.0
    assert 0.5 < interval.low < 1.0


def test_a_judge_that_always_says_broken_is_worth_one_half():
    mean, _ = balanced_accuracy([("a", True), ("b", True)], [("a", False), ("b", False), ("c", False)])

    assert mean == 0.5


def test_without_one_of_the_two_there_is_no_accuracy():
    assert balanced_accuracy([("a", True)], []) is None
    assert balanced_accuracy([], [("a", True)]) is None
