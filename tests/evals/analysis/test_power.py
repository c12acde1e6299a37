"""How many decisions it takes: the sum of the model's probabilities, held against drawing from it."""

import numpy as np
import pytest

from evals.analysis.drift_statistics import AnswerPool, exceeds_p, needed, power

LEVEL = 0.025


def test_no_change_is_called_drift_at_most_as_often_as_the_level_says():
    assert all(power(size, 0.0, floor, LEVEL) <= LEVEL for size in (20, 60, 200) for floor in (0.0, 0.05, 0.3))


@pytest.mark.parametrize(("size", "floor"), [(36, 0.0), (47, 0.05)])
def test_power_is_that_of_the_exact_test_on_answers_drawn_from_the_model(size, floor):
    rng = np.random.default_rng(5)

    def found():
        return exceeds_p([three_answers(0.15, floor, rng) for _ in range(size)]) <= LEVEL

    assert np.mean([found() for _ in range(600)]) == pytest.approx(power(size, 0.15, floor, LEVEL), abs=0.05)


def three_answers(change, floor, rng):
    """Two recorded and a fresh one: one of them odd with probability 1.5 f; where the model changed, the fresh one is
    new beside them."""
    names = ["a", "a", "a"]
    if rng.random() < 1.5 * floor:
        names[rng.integers(3)] = "b"
    return AnswerPool(tuple(names[:2]), ("new" if rng.random() < change / (1 - floor) else names[2],))


def test_more_noise_and_smaller_changes_need_more_decisions():
    assert needed(0.15, 0.0, LEVEL) < needed(0.15, 0.05, LEVEL) < needed(0.15, 0.2, LEVEL)
    assert needed(0.2, 0.05, LEVEL) < needed(0.15, 0.05, LEVEL) < needed(0.1, 0.05, LEVEL)


def test_what_is_needed_is_enough_and_stays_so():
    enough = needed(0.15, 0.05, LEVEL)

    assert all(power(enough + more, 0.15, 0.05, LEVEL) >= 0.8 for more in range(8))


def test_a_change_that_leaves_nothing_equal_cannot_be_planned_for():
    assert needed(0.15, 0.9, LEVEL) is None
