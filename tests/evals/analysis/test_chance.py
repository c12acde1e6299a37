"""Generated outcomes through the real gate: what must be red is, and nothing else more often than alpha."""

import numpy as np
import pytest

from evals.models.suite import GatePolicy
from evals.pipeline.selftest_suite import red_rate
from tests.builders.selftest import a_rate
from tests.builders.shipped import every

POLICY = GatePolicy()


def drawn(cases, flips, churn=0.0, draws=1):
    return red_rate(cases, flips, churn, draws, POLICY, np.random.default_rng(1))


@pytest.mark.parametrize(("flips", "red"), [(0, 0), (5, 0), (6, 1), (8, 1)])
def test_without_churn_six_losses_are_the_fewest_that_count_in_the_whole_gate(flips, red):
    """Routes move against reference and baseline, so two tests count: 1/2^5 = 0.031 is above 0.05 / 2, 1/2^6 below."""
    assert drawn(64, flips).red == red


@pytest.mark.slow
def test_the_whole_gate_raises_no_more_alarms_than_alpha_whatever_the_churn():
    for churn in (0.02, 0.1, 0.3):
        assert not drawn(40, 0, churn=churn, draws=300 if every() else 100).above(POLICY.alpha)


def test_nothing_planted_raises_no_more_alarms_than_alpha():
    assert not drawn(16, 0, churn=0.1, draws=40).above(POLICY.alpha)


def test_too_many_alarms_are_noticed():
    assert a_rate(red=20).above(POLICY.alpha)


def test_churn_hides_what_would_be_seen_without_it():
    assert 0 < drawn(64, 8, churn=0.1, draws=40).red < 40
