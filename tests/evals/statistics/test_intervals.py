"""What a single rate or mean is worth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, t

from evals.statistics.intervals import fraction_interval, mean, mean_interval, rate_interval

counts = st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@settings(deadline=None)
@given(counts)
def test_the_ends_of_a_rates_interval_leave_half_of_five_per_cent_on_each_side(count):
    """Mid-P: what is as likely as what was seen counts half."""
    successes, trials = count
    low, high = rate_interval(successes, trials)
    fewer = [binom.cdf(successes - 1, trials, end) + binom.pmf(successes, trials, end) / 2 for end in (low, high)]

    assert successes == 0 or fewer[0] == pytest.approx(0.975, abs=1e-6)
    assert successes == trials or fewer[1] == pytest.approx(0.025, abs=1e-6)
    assert low <= successes / trials <= high


def test_the_interval_of_a_rate_is_published():
    """Agresti and Gottard 2005 (on mid-P): of 10 trials without a success the upper limit is 1 - 0.05^(1/10)."""
    assert rate_interval(0, 10) == pytest.approx((0, 1 - 0.05**0.1))


def test_an_empty_sample_has_no_interval_and_no_mean():
    assert (rate_interval(0, 0), fraction_interval([], []), mean([])) == (None,) * 3


def test_single_cases_that_pass_or_fail_have_the_interval_of_a_rate():
    assert fraction_interval([1, 0, 1, 1], "abcd") == rate_interval(3, 4)


def test_pairs_that_move_together_count_once():
    assert fraction_interval([1, 1, 0, 0, 1, 1] * 5, [n // 2 for n in range(30)]) == pytest.approx(
        rate_interval(10, 15), abs=0.01
    )


def test_pairs_that_do_not_move_together_count_more_than_once():
    apart = [*range(40)] * 2
    values = [float(n % 5 > 0) for n in range(40)] + [float(n % 7 > 0) for n in range(40)]
    wide = fraction_interval(values, apart)

    assert rate_interval(sum(values), 80) != wide
    assert width(rate_interval(sum(values), 80)) <= width(wide) < width(rate_interval(sum(values) / 2, 40))


def test_grades_have_a_narrower_interval_than_pass_or_fail_with_the_same_mean():
    grades, passes = [0.5, 1.0] * 40, [1.0, 1.0, 1.0, 0.0] * 20

    assert width(fraction_interval(grades, range(80))) < width(fraction_interval(passes, range(80)))


def test_full_marks_from_few_cases_are_no_proof():
    assert fraction_interval([1.0] * 4, "abcd") == rate_interval(4, 4)
    assert fraction_interval([0.5, 0.75], "aa") is None


def test_the_mean_of_amounts_has_students_interval_where_they_are_not_skewed():
    values = [*range(1, 41)]

    low, high = mean_interval(values, range(40))
    assert (low, high) == pytest.approx(t.interval(0.95, 39, np.mean(values), np.std(values, ddof=1) / 40**0.5))


def test_a_long_tail_stretches_the_interval_on_its_side():
    values = [1.0] * 30 + [20.0] * 2

    low, high = mean_interval(values, range(32))
    assert high - np.mean(values) > np.mean(values) - low


@pytest.mark.parametrize("count", [1, 2, 11])
def test_few_amounts_have_no_interval(count):
    assert mean_interval([*range(count)], range(count)) is None


def test_twins_that_move_together_widen_the_interval():
    """Four copies of each value are no new information: the width must be that of the clusters, not of the rows."""
    base = list(np.random.default_rng(3).random(40))
    quadrupled, owners = base * 4, list(range(40)) * 4

    assert width(mean_interval(quadrupled, owners)) == pytest.approx(width(mean_interval(base, range(40))), rel=0.01)


def test_a_cluster_id_per_value_is_demanded():
    with pytest.raises(ValueError, match="give one per value"):
        mean_interval([1.0, 2.0], ["a"])


def width(interval):
    return interval.high - interval.low
