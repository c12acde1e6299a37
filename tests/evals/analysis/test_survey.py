"""What a stratified, clustered sample says of all requests."""

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from evals.analysis.drift_statistics import Estimate, Seen, difference, mean_of, share, wilson_at


def drawn_one_by_one(values):
    return [Seen(value, 1.0, number) for number, value in enumerate(values)]


@pytest.mark.parametrize(("hits", "size"), [(0, 12), (3, 12), (12, 12), (50, 51)])
def test_at_a_whole_size_it_is_wilsons_interval(hits, size):
    assert wilson_at(hits / size, size) == pytest.approx(proportion_confint(hits, size, method="wilson"))


def test_unequal_weights_are_worth_fewer_requests():
    """Kish's (sum of w)^2 / sum of w^2."""
    seen = [Seen(1.0, weight, weight) for weight in (1.0, 2.0, 3.0)]

    assert share(seen).effective == pytest.approx(36 / 14)


def test_cases_that_answer_as_one_are_worth_one_request_each():
    apart = drawn_one_by_one([0.0, 1.0] * 10)
    together = [Seen(float(case % 2), 1.0, case) for case in range(4) for _ in range(5)]

    assert share(together).effective < 5
    assert share(apart).effective > 15


def test_an_empty_sample_says_nothing():
    assert share([]) is None
    assert mean_of([]) is None


def test_a_difference_of_independent_shares_is_newcombes():
    one, other = (Estimate(p, *wilson_at(p, n), n, n) for p, n in ((56 / 70, 70), (48 / 80, 80)))

    value, low, high = difference(one, other)

    assert (low, high) == pytest.approx((0.0524, 0.3339), abs=1e-4)  # Newcombe 1998, table II, method 10
    assert value == pytest.approx(0.2)


def test_nine_intervals_of_ten_hold_the_share_of_all_requests():
    """Coverage over drawn samples of a population whose cases differ; nominal 95 %."""
    rng = np.random.default_rng(3)
    cases = np.repeat(np.arange(60), 25)
    values = (rng.random(1500) < np.repeat(rng.beta(8, 1, 60), 25)).astype(float)

    def held():
        picked = rng.choice(1500, 60, replace=False)
        found = share([Seen(values[i], 25.0, cases[i]) for i in picked])
        return found.low <= values.mean() <= found.high

    assert np.mean([held() for _ in range(400)]) > 0.92
