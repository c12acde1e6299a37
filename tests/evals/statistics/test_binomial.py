"""The binomial distribution as scipy has it."""

import pytest
from scipy.stats import binom, binomtest, norm

from evals.statistics.distributions import (
    at_least,
    at_most,
    least_rejected,
    normal_quantile,
    pmf,
    two_sided,
    upper_limit,
)

SIZES = [1, 2, 7, 8, 64, 80, 640]


@pytest.mark.parametrize("p", [0.0, 0.013, 0.3, 0.5, 0.97, 1.0])
@pytest.mark.parametrize("trials", [0, *SIZES])
def test_probabilities_and_tails_are_scipys(trials, p):
    counts = range(trials + 1)
    above = [binom.sf(k - 1, trials, p) for k in counts]
    below = [binom.cdf(k, trials, p) for k in counts]

    assert list(pmf(trials, p)) == pytest.approx([binom.pmf(k, trials, p) for k in counts], abs=1e-12)
    assert [at_least(k, trials, p) for k in counts] == pytest.approx(above, abs=1e-12)
    assert [at_most(k, trials, p) for k in counts] == pytest.approx(below, abs=1e-12)


@pytest.mark.parametrize("trials", SIZES)
def test_the_exact_test_of_a_half_is_scipys(trials):
    for count in range(0, trials + 1, max(1, trials // 8)):
        assert two_sided(count, trials) == pytest.approx(binomtest(count, trials).pvalue)
        assert at_least(count, trials) == pytest.approx(binomtest(count, trials, alternative="greater").pvalue)


@pytest.mark.parametrize("trials", SIZES)
def test_the_upper_limit_of_a_rate_is_scipys(trials):
    for count in {0, 1, trials // 2, trials - 1, trials}:
        limit = binomtest(count, trials, alternative="less").proportion_ci(0.95, method="exact").high

        assert upper_limit(count, trials, 0.95) == pytest.approx(limit, abs=1e-9)


@pytest.mark.parametrize("alpha", [0.05, 0.05 / 3, 0.05 / 9])
@pytest.mark.parametrize("trials", [0, *SIZES])
def test_the_first_count_that_is_rejected_is_scipys(trials, alpha):
    assert least_rejected(trials, alpha) == binom.isf(alpha, trials, 0.5) + 1


@pytest.mark.parametrize("p", [0.001, 0.05, 0.5, 0.8, 0.975])
def test_normal_quantiles_are_scipys(p):
    assert normal_quantile(p) == pytest.approx(norm.ppf(p), abs=1e-12)
