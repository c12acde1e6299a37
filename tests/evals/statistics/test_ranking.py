"""Formulas of rankings against values worked out by hand."""

import pytest
from sklearn.metrics import average_precision_score, label_ranking_average_precision_score, top_k_accuracy_score

from evals.triage.report_scorers import (
    all_at,
    average_precision,
    filled_at,
    harmonic_mean,
    hit_at,
    precision,
    recall,
    reciprocal_rank,
)

GOLD = frozenset({"a", "b", "c"})


@pytest.mark.parametrize(
    ("ranked", "mrr", "ap", "p", "r"),
    [
        ("abc", 1, 1, 1, 1),
        ("abcx", 1, 1, 3 / 4, 1),
        ("xabc", 1 / 2, (1 / 2 + 2 / 3 + 3 / 4) / 3, 3 / 4, 1),
        ("axbxc", 1, (1 + 2 / 3 + 3 / 5) / 3, 3 / 5, 1),
        ("xxxb", 1 / 4, (1 / 4) / 3, 1 / 4, 1 / 3),
        ("a", 1, 1 / 3, 1, 1 / 3),
        ("x", 0, 0, 0, 0),
        ("", 0, 0, 0, 0),
    ],
)
def test_rank_and_set_formulas_by_hand(ranked, mrr, ap, p, r):
    """Where all gold is ranked, the third column is what scikit-learn's average_precision_score gives."""
    formulas = (reciprocal_rank, average_precision, precision, recall)

    assert [formula(tuple(ranked), GOLD) for formula in formulas] == pytest.approx([mrr, ap, p, r])


@pytest.mark.parametrize(
    ("ranked", "k", "hit", "every", "filled"),
    [
        ("axx", 1, True, False, True),
        ("xab", 1, False, False, False),
        ("abx", 2, True, False, True),
        ("axb", 2, True, False, False),
        ("abc", 3, True, True, True),
        ("abxc", 3, True, False, False),
        ("abxc", 4, True, True, True),
        ("abc", 10, True, True, True),
        ("ab", 10, True, False, False),
        ("", 1, False, False, False),
    ],
)
def test_what_stands_in_the_first_k_by_hand(ranked, k, hit, every, filled):
    assert [formula(tuple(ranked), GOLD, k) for formula in (hit_at, all_at, filled_at)] == [hit, every, filled]


@pytest.mark.parametrize("k", [3, 4, 10])
def test_both_accuracies_agree_where_k_places_are_enough(k):
    for ranked in ("abc", "xabc", "abxxc", "ab", ""):
        assert all_at(tuple(ranked), GOLD, k) == filled_at(tuple(ranked), GOLD, k)


@pytest.mark.parametrize(("p", "r", "f1"), [(1, 1, 1), (1, 0.5, 2 / 3), (0.5, 0.25, 1 / 3), (0, 1, 0), (0, 0, 0)])
def test_f1_is_the_harmonic_mean(p, r, f1):
    assert harmonic_mean(p, r) == pytest.approx(f1)


@pytest.mark.parametrize("ranked", ["abc", "abcx", "xabc", "axbxc", "xxcbxa"])
def test_average_precision_is_scikit_learns_where_all_gold_is_ranked(ranked):
    right, scores = [name in GOLD for name in ranked], [-place for place in range(len(ranked))]

    assert average_precision(tuple(ranked), GOLD) == pytest.approx(average_precision_score(right, scores))


@pytest.mark.parametrize("ranked", ["axx", "xax", "xxa"])
def test_the_reciprocal_rank_is_scikit_learns_label_ranking_where_one_is_right(ranked):
    right, scores = [[name == "a" for name in ranked]], [[-place for place in range(3)]]

    found = reciprocal_rank(tuple(ranked), frozenset("a"))
    assert found == pytest.approx(label_ranking_average_precision_score(right, scores))


@pytest.mark.parametrize("ranked", ["abc", "bac", "bca"])
@pytest.mark.parametrize("k", [1, 2])
def test_a_hit_is_scikit_learns_top_k_accuracy_where_one_is_right(ranked, k):
    scores = [[-ranked.index(name) for name in "abc"]]

    assert hit_at(tuple(ranked), frozenset("a"), k) == bool(top_k_accuracy_score([0], scores, k=k, labels=[0, 1, 2]))
