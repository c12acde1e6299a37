"""Generated outcomes through the real gate: what must be red is, and nothing else more often than alpha."""

import numpy as np
import pytest

from evals.models.suite import GatePolicy
from evals.selftest.chance import red_rate
from tests.builders.selftest import a_rate

POLICY = GatePolicy()


def drawn(cases, flips, churn=0.0, draws=1):
    return red_rate(cases, flips, churn, draws, POLICY, np.random.default_rng(1))


@pytest.mark.parametrize(("flips", "red"), [(0, 0), (5, 0), (6, 1), (8, 1)])
def test_without_churn_six_losses_are_the_fewest_that_count_among_three_endpoints(flips, red):
    """Holm asks the best of three for p <= 0.05 / 3: 1/2^5 = 0.031 is not, 1/2^6 = 0.0156 is."""
    assert drawn(64, flips).red == red


def test_nothing_planted_raises_no_more_alarms_than_alpha():
    assert not drawn(16, 0, churn=0.1, draws=40).above(POLICY.alpha)


def test_too_many_alarms_are_noticed():
    assert a_rate(red=20).above(POLICY.alpha)


def test_churn_hides_what_would_be_seen_without_it():
    assert 0 < drawn(64, 8, churn=0.1, draws=40).red < 40
