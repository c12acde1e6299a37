"""Rates in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.statistics.rates import format_rate

counts = st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("successes", "trials", "text"),
    [
        (0, 0, "n/a"),
        (0, 7, "0 %"),
        (7, 7, "100 %"),
        (1, 3, "33.3 %"),
        (1, 5000, "0.1 %"),
        (4999, 5000, "99.9 %"),
        (999, 2000, "50.0 %"),
    ],
)
def test_a_rate_in_words(successes, trials, text):
    assert format_rate(successes, trials) == text


@given(counts)
def test_nought_and_a_hundred_per_cent_are_printed_only_when_exactly_true(count):
    successes, trials = count
    shown = float(format_rate(successes, trials).removesuffix(" %"))

    assert (shown == 0) == (successes == 0)
    assert (shown == 100) == (successes == trials)
