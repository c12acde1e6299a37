"""Two variants on the same cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests

from evals.stats.paired import holm, mcnemar, paired_bootstrap

pairs = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)


def flips(lost: int, gained: int, same: int = 10):
    return [True] * lost + [False] * gained + [True] * same, [False] * lost + [True] * gained + [True] * same


@given(pairs)
def test_exact_mcnemar_agrees_with_statsmodels(outcomes):
    test = mcnemar([was for was, _ in outcomes], [now for _, now in outcomes])
    table = [[0, test.lost], [test.gained, 0]]

    assert test.p_two_sided == pytest.approx(statsmodels_mcnemar(table, exact=True).pvalue)


@pytest.mark.parametrize(
    ("lost", "gained", "worse", "two_sided"),
    [(5, 0, 1 / 32, 1 / 16), (0, 5, 1.0, 1 / 16), (6, 0, 1 / 64, 1 / 32), (3, 3, 42 / 64, 1.0), (0, 0, 1.0, 1.0)],
)
def test_exact_mcnemar_by_hand(lost, gained, worse, two_sided):
    test = mcnemar(*flips(lost, gained))

    assert (test.p_worse, test.p_two_sided) == pytest.approx((worse, two_sided))


def test_the_difference_is_candidate_minus_reference():
    assert mcnemar(*flips(3, 1, same=6)).difference == pytest.approx(-0.2)


def test_no_pair_gives_no_test():
    assert mcnemar([], []) is None
    assert paired_bootstrap([], [], [], np.random.default_rng(0)) is None


def test_variants_of_different_length_are_no_pairs():
    with pytest.raises(ValueError, match="zip"):
        mcnemar([True], [])


def test_a_plain_drop_is_seen_by_the_bootstrap():
    reference = [0.8 + 0.01 * (i % 5) for i in range(30)]
    candidate = [value - 0.2 - 0.01 * (i % 3) for i, value in enumerate(reference)]

    found = paired_bootstrap(reference, candidate, range(30), np.random.default_rng(5))

    assert found.mean == pytest.approx(-0.21)
    assert found.interval.low <= found.mean <= found.interval.high < 0


def test_equal_variants_differ_by_exactly_nothing():
    found = paired_bootstrap([0.1, 0.9], [0.1, 0.9], "ab", np.random.default_rng(5))

    assert (found.mean, found.interval) == (0.0, (0.0, 0.0))


def test_one_cluster_gives_a_mean_without_interval():
    found = paired_bootstrap([0.1, 0.9], [0.2, 0.9], "aa", np.random.default_rng(5))

    assert (found.clusters, found.interval) == (1, None)


@pytest.mark.slow
def test_the_bootstrap_interval_covers_the_truth_about_as_often_as_it_says():
    """50 clusters of two that share their luck: the 95 % interval holds the true mean in 90 to 98 of 100 trials."""
    rng = np.random.default_rng(11)
    hits = 0
    for _ in range(400):
        differences = np.repeat(rng.normal(0.1, 0.3, 50), 2) + rng.normal(0, 0.1, 100)
        found = paired_bootstrap(np.zeros(100), differences, np.repeat(range(50), 2).tolist(), rng, resamples=400)
        hits += found.interval.low <= 0.1 <= found.interval.high

    assert 0.90 <= hits / 400 <= 0.98


@settings(max_examples=20, deadline=None)  # statsmodels takes 0.1 s a call
@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_holm_agrees_with_statsmodels(p_values):
    adjusted = holm(dict(enumerate(p_values)))

    assert list(adjusted.values()) == pytest.approx(list(multipletests(p_values, method="holm")[1]))


def test_mcnemar_gives_the_published_p_value():
    """Fagerland, Lydersen and Laake 2013, airway hyper-responsiveness before and after transplantation: 7 against 1."""
    assert mcnemar(*flips(7, 1, same=13)).p_two_sided == pytest.approx(0.0703, abs=5e-5)


def test_holm_gives_the_textbook_values():
    """Four hypotheses at 0.05: the second smallest, 0.01, is held against 0.05 / 3; the third, 0.03, fails."""
    adjusted = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})

    assert adjusted == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})


def test_the_paired_bootstrap_is_scipys_percentile_bootstrap_where_every_case_is_its_own_cluster():
    rng = np.random.default_rng(21)
    reference, candidate = rng.random(60), rng.random(60)
    expected = bootstrap(
        (candidate - reference,), np.mean, method="percentile", n_resamples=20_000, rng=np.random.default_rng(1)
    ).confidence_interval

    found = paired_bootstrap(reference, candidate, range(60), np.random.default_rng(2), resamples=20_000)

    assert found.interval == pytest.approx((expected.low, expected.high), abs=0.004)
