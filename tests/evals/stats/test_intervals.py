"""What a single rate or mean is worth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from evals.stats.intervals import bootstrap_mean, mean, newcombe, resampled_means, wilson

counts = st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts)
def test_wilson_agrees_with_statsmodels(count):
    successes, trials = count

    assert wilson(successes, trials) == pytest.approx(proportion_confint(successes, trials, method="wilson"), abs=1e-9)


def test_wilson_gives_the_published_interval():
    """Newcombe 1998, table I: 81 of 263, method 3, is 0.2553 to 0.3662."""
    interval = wilson(81, 263)

    assert (round(interval.low, 4), round(interval.high, 4)) == (0.2553, 0.3662)


@pytest.mark.parametrize(
    ("one", "other", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((10, 10), (0, 10), 0.6075, 1.0000),
    ],
)
def test_the_difference_of_two_rates_has_the_published_interval(one, other, low, high):
    """Newcombe 1998 (interval estimation for the difference between independent proportions), table II, method 10."""
    assert newcombe(one, other) == pytest.approx((low, high), abs=5e-5)


@settings(deadline=None)
@given(counts, counts)
def test_the_difference_of_two_rates_agrees_with_statsmodels(one, other):
    expected = confint_proportions_2indep(*one, *other, method="newcomb", compare="diff")

    assert newcombe(one, other) == pytest.approx(expected, abs=1e-9)


def test_a_rate_of_nothing_has_no_difference():
    assert newcombe((0, 0), (1, 2)) is None


def test_an_empty_sample_has_no_interval_and_no_mean():
    assert (wilson(0, 0), mean([])) == (None, None)


def test_the_bootstrap_mean_of_single_clusters_has_the_textbook_width():
    """With one value per cluster the interval is near mean ± 1.96·s/√n."""
    values = np.random.default_rng(1).normal(0.5, 0.1, 400)

    low, high = bootstrap_mean(values, range(400), np.random.default_rng(2))

    assert (high - low) / 2 == pytest.approx(1.96 * values.std() / 20, rel=0.1)


def test_twins_that_move_together_widen_the_interval():
    """Four copies of each value are no new information: the width must be that of the clusters, not of the rows."""
    base = list(np.random.default_rng(3).random(40))
    quadrupled, owners = base * 4, list(range(40)) * 4

    together = bootstrap_mean(quadrupled, owners, np.random.default_rng(4))
    apart = bootstrap_mean(quadrupled, range(160), np.random.default_rng(4))

    assert (together.high - together.low) / (apart.high - apart.low) == pytest.approx(2, rel=0.15)


def test_one_cluster_gives_no_interval():
    assert bootstrap_mean([0.1, 0.9], ["twins", "twins"], np.random.default_rng(0)) is None


def test_the_same_seed_gives_the_same_interval():
    first, second = (bootstrap_mean([0, 1, 1, 0.5], "abcd", np.random.default_rng(7)) for _ in range(2))

    assert first == second


def test_a_cluster_id_per_value_is_demanded():
    with pytest.raises(ValueError, match="give one per value"):
        resampled_means([1.0, 2.0], ["a"], np.random.default_rng(0), 10)
