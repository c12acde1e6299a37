"""Two variants on the same cases."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests

from evals.statistics.paired_tests import counted_tests, difference_interval, holm, mcnemar, tarone_holm

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


def test_variants_of_different_length_are_no_pairs():
    with pytest.raises(ValueError, match="zip"):
        mcnemar([True], [])


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_holm_agrees_with_statsmodels(p_values):
    adjusted = holm(dict(enumerate(p_values)))
    with patch("gc.collect"):  # statsmodels collects at every call, which takes as long as all tests before have left
        theirs = multipletests(p_values, method="holm")[1]

    assert list(adjusted.values()) == pytest.approx(list(theirs))


def test_mcnemar_gives_the_published_p_value():
    """Fagerland, Lydersen and Laake 2013, airway hyper-responsiveness before and after transplantation: 7 against 1."""
    assert mcnemar(*flips(7, 1, same=13)).p_two_sided == pytest.approx(0.0703, abs=5e-5)


def test_holm_gives_the_textbook_values():
    """Four hypotheses at 0.05: the second smallest, 0.01, is held against 0.05 / 3; the third, 0.03, fails."""
    adjusted = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})

    assert adjusted == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})


def test_the_interval_of_a_paired_difference_is_bonett_and_prices():
    """Bonett and Price 2012: one loss and one gain are added; (2 + 1) of 22 lost, (5 + 1) gained."""
    changes = [-1.0] * 2 + [1.0] * 5 + [0.0] * 13
    lost, gained = 3 / 22, 6 / 22
    half = norm.ppf(0.975) * ((lost + gained - (gained - lost) ** 2) / 22) ** 0.5

    found = difference_interval(changes, range(20))

    assert found == pytest.approx((gained - lost - half, gained - lost + half))


def test_equal_variants_are_no_proof_that_nothing_can_change():
    low, high = difference_interval([0.0] * 80, range(80))

    assert (low, high) == pytest.approx((-high, high))
    assert 0.03 < high < 0.04


def test_pairs_that_move_together_widen_the_interval_of_a_difference():
    changes = [-1.0] * 3 + [1.0] + [0.0] * 16
    together = difference_interval(np.repeat(changes, 2).tolist(), [n // 2 for n in range(40)])

    assert together == pytest.approx(difference_interval(changes, range(20)))


def test_one_cluster_has_no_interval_of_a_difference():
    assert difference_interval([0.1, 0.0], "aa") is None


def test_tests_that_could_not_be_significant_do_not_count():
    """Of eight tests six cannot reach 0.05 / 2, whatever their signs: alpha is halved, not divided by eight."""
    assert counted_tests([1 / 64, 1 / 128, *[1.0] * 3, *[1 / 8] * 3], 0.05) == 2
    assert counted_tests([], 0.05) == 1
    assert counted_tests([0.0] * 5, 0.05) == 5


def test_with_every_test_counted_it_is_holms_adjustment():
    p_values = {"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}

    assert tarone_holm(p_values, dict.fromkeys(p_values, 0.0), 0.05) == holm(p_values)


def test_a_test_without_a_change_costs_the_others_nothing():
    adjusted = tarone_holm({"moved": 1 / 32, "same": 1.0}, {"moved": 1 / 32, "same": 1.0}, 0.05)

    assert adjusted == {"moved": 1 / 32, "same": 1.0}
