"""Several samples of one case."""

from itertools import combinations

import pytest
from scipy.stats import hypergeom

from evals.statistics.rates import mean_pass_hat_k, pass_hat_k


@pytest.mark.parametrize(("successes", "samples", "k"), [(3, 5, 2), (5, 5, 5), (1, 4, 2), (0, 3, 1), (4, 6, 3)])
def test_pass_hat_k_is_the_share_of_draws_that_all_pass(successes, samples, k):
    draws = list(combinations([True] * successes + [False] * (samples - successes), k))

    assert pass_hat_k(successes, samples, k) == pytest.approx(sum(map(all, draws)) / len(draws))


def test_too_few_samples_say_nothing():
    assert (pass_hat_k(2, 2, 3), mean_pass_hat_k([(2, 2), (3, 3)], 3), mean_pass_hat_k([], 1)) == (None, None, None)


def test_the_mean_is_over_cases():
    assert mean_pass_hat_k([(2, 2), (0, 2)], 1) == 0.5


@pytest.mark.parametrize(("successes", "samples", "k"), [(3, 5, 2), (5, 5, 5), (1, 4, 2), (4, 6, 3)])
def test_pass_hat_k_is_the_hypergeometric_chance_of_k_successes(successes, samples, k):
    assert pass_hat_k(successes, samples, k) == pytest.approx(hypergeom.pmf(k, samples, successes, k))
