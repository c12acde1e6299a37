"""Skill over a baseline."""

import pytest

from evals.statistics.rates import skill


@pytest.mark.parametrize(
    ("score", "baseline", "value"), [(0.75, 0.5, 0.5), (0.5, 0.5, 0.0), (0.4, 0.5, -0.2), (1, 0.3, 1.0), (1, 1, None)]
)
def test_skill_is_what_was_won_of_what_could_be_won(score, baseline, value):
    assert skill(score, baseline) == (None if value is None else pytest.approx(value))
