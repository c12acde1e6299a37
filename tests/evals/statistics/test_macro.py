"""Macro-averages: the mean over groups of the mean inside each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, recall_score

from evals.statistics.intervals import fraction_interval, macro_interval, macro_mean, macro_weights, rate_interval

choices = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=40)


@settings(deadline=None)
@given(choices)
def test_the_macro_average_of_right_answers_is_scikit_learns_macro_recall(pairs):
    gold, named = [gold for gold, _ in pairs], [named for _, named in pairs]
    expected = recall_score(gold, named, labels=sorted(set(gold)), average="macro")

    assert macro_mean([float(a == b) for a, b in pairs], gold) == pytest.approx(expected)


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_of_two_groups_it_is_scikit_learns_balanced_accuracy(asked):
    wanted = [True, *[n % 3 > 0 for n in range(len(asked))]]
    told = [False, *asked]
    rightly = [float(a == b) for a, b in zip(wanted, told, strict=True)]

    assert macro_mean(rightly, wanted) == pytest.approx(balanced_accuracy_score(wanted, told))


def test_a_constant_answer_cannot_live_off_the_most_frequent_group():
    assert macro_mean([1, 1, 1, 0], ["search", "search", "search", "writer"]) == 0.5


def test_no_value_has_no_average():
    assert macro_mean([], []) is None


def test_weights_add_up_to_one_and_give_the_macro_average():
    groups, values = ["a", "a", "b"], [1.0, 0.0, 1.0]
    weights = macro_weights(groups)

    assert sum(weights) == pytest.approx(1)
    assert sum(w * v for w, v in zip(weights, values, strict=True)) == pytest.approx(macro_mean(values, groups))


def test_one_group_is_the_plain_mean():
    values, clusters = [0.0, 1.0, 0.5, 1.0], "abcd"

    assert macro_interval(values, ["same"] * 4, clusters) == fraction_interval(values, clusters)


def test_full_marks_have_the_interval_of_as_many_clusters_as_weigh_in():
    """Kish's effective size of weights 1/8, 1/8, 1/8, 1/8 and 1/2 is 1 / (4/64 + 1/4) = 3.2."""
    assert macro_interval([1.0] * 5, "aaaab", "vwxyz") == rate_interval(3.2, 3.2)


def test_the_interval_is_about_that_of_two_independent_means():
    """Mean of two group means: the standard errors add as squares, halved. Every case has both groups."""
    rng = np.random.default_rng(7)
    values = [*rng.normal(0.8, 0.05, 400), *rng.normal(0.3, 0.1, 400)]
    groups = ["often"] * 400 + ["rare"] * 400

    low, high = macro_interval(values, groups, [*range(400)] * 2)

    assert (high - low) / 2 == pytest.approx(1.96 * (0.05**2 / 400 + 0.1**2 / 400) ** 0.5 / 2, rel=0.15)


def test_grades_of_one_cluster_have_no_interval():
    assert macro_interval([0.0, 1.0], "ab", "cc") is None
