"""The beta distribution and Student's t."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from evals.statistics.distributions import beta_cdf, root, t_cdf, t_quantile

sizes = st.floats(0.01, 500)


@given(st.floats(0, 1, allow_subnormal=False), sizes, sizes)
def test_the_beta_distribution_is_scipys(x, a, b):
    assert beta_cdf(x, a, b) == pytest.approx(special.betainc(a, b, x), abs=1e-9)


@pytest.mark.parametrize("p", [0.005, 0.025, 0.2, 0.5, 0.8, 0.9875, 0.999])
@pytest.mark.parametrize("df", [1, 1.5, 6, 79, 2000])
def test_students_t_is_scipys(p, df):
    assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-5, abs=1e-9)
    assert t_cdf(t_quantile(p, df), df) == pytest.approx(p, abs=1e-6)


def test_a_root_at_an_end_of_the_bracket_is_found():
    assert (root(lambda x: x, 0.0, 1.0), root(lambda x: x - 1, 0.0, 1.0)) == (0.0, 1.0)
