"""What a suite of this size could have seen."""

import numpy as np
import pytest
from scipy.stats import binom, t

from evals.statistics import distributions
from evals.statistics.distributions import at_least
from evals.statistics.paired_tests import (
    mcnemar,
    mcnemar_power,
    minimum_detectable_difference,
    minimum_detectable_drop,
    smallest_significant_flips,
)


@pytest.mark.slow
@pytest.mark.parametrize(("pairs", "drop", "churn"), [(20, 0.3, 0.0), (60, 0.2, 0.05)])
def test_power_is_how_often_simulated_regressions_are_called(pairs, drop, churn):
    rng = np.random.default_rng(9)
    called = 0
    for _ in range(2000):
        lost, gained, _ = rng.multinomial(pairs, [churn + drop, churn, 1 - 2 * churn - drop])
        was, now = [True] * lost + [False] * gained, [False] * lost + [True] * gained
        test = mcnemar(was or [True], now or [True])
        called += test.p_worse <= 0.05

    assert mcnemar_power(pairs, drop, churn=churn) == pytest.approx(called / 2000, abs=0.03)


def test_without_churn_power_is_the_chance_of_five_losses():
    """0.5^5 is the first sign test below 0.05, so five losses and no gain are what it takes."""
    assert mcnemar_power(30, 0.2) == pytest.approx(binom.sf(4, 30, 0.2))


def test_the_detectable_drop_is_the_first_with_enough_power():
    drop = minimum_detectable_drop(40, churn=0.02)

    assert mcnemar_power(40, drop, churn=0.02) >= 0.8 > mcnemar_power(40, drop - 0.001, churn=0.02)


@pytest.mark.parametrize("pairs", [0, 1, 4])
def test_four_cases_can_show_no_drop_at_all(pairs):
    assert minimum_detectable_drop(pairs) is None


def test_five_cases_can_only_show_that_nearly_all_broke():
    """Power 0.8 needs all five lost with chance 0.8: a drop of 0.8^(1/5)."""
    assert minimum_detectable_drop(5) == pytest.approx(0.8**0.2, abs=0.001)


def test_more_cases_see_smaller_drops():
    drops = [minimum_detectable_drop(pairs) for pairs in (10, 20, 40, 80, 160)]

    assert drops == sorted(drops, reverse=True)
    assert len(set(drops)) == 5


def test_many_cases_do_not_have_every_tail_of_every_number_of_changes_looked_at(monkeypatch):
    asked = []
    monkeypatch.setattr(distributions, "at_least", lambda *of: asked.append(of) or at_least(*of))

    drop = minimum_detectable_drop(3001, alpha=0.0071)

    assert drop == pytest.approx(0.004)
    assert len(asked) < 3001


def test_more_than_all_cases_cannot_change():
    with pytest.raises(ValueError, match="at most 1"):
        mcnemar_power(10, 0.8, churn=0.2)


@pytest.mark.parametrize(
    ("pairs", "gained", "two_sided", "lost"),
    [
        (20, 0, False, 5),
        (20, 0, True, 6),
        (4, 0, False, None),
        (20, 1, False, 7),
        (20, 2, True, 10),
        (0, 0, False, None),
    ],
)
def test_the_fewest_flips_that_count(pairs, gained, two_sided, lost):
    """Sign test table: 5-0 one-sided, 6-0 two-sided, 7-1 one-sided (9/256), 10-2 two-sided (158/4096)."""
    assert smallest_significant_flips(pairs, gained=gained, two_sided=two_sided) == lost


def test_the_detectable_difference_follows_the_formula():
    differences = [0.0, 0.2, 0.1, -0.1]
    expected = (t.ppf(0.95, 3) + t.ppf(0.8, 3)) * np.std(differences, ddof=1) / 2

    assert minimum_detectable_difference(differences, "abcd") == pytest.approx(expected)


def test_equal_differences_do_not_promise_that_any_drop_would_be_seen():
    assert minimum_detectable_difference([0.0, 0.0, 0.0], "abc") is None


def test_twins_count_once_for_the_detectable_difference():
    assert minimum_detectable_difference([0.1, 0.1], "aa") is None


def test_churn_that_leaves_no_whole_thousandth_is_allowed():
    assert minimum_detectable_drop(35, churn=2 / 35) is not None
