"""How far a route is from its exemplars."""

from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.routes.route_check import first_divergence, lcs_length, similarity

letters = st.text("abc", max_size=8)
walks = st.lists(st.text("abc", min_size=1, max_size=3), max_size=3)


def supersteps(walk):
    return [step for step, group in enumerate(walk) for _ in group]


def orders(walk):
    """Every order the visits may have had."""
    return {"".join(map("".join, order)) for order in product(*map(permutations, walk))}


@pytest.mark.parametrize(
    ("left", "right", "length"), [("", "abc", 0), ("abcbdab", "bdcaba", 4), ("aggtab", "gxtxayb", 4)]
)
def test_the_longest_common_subsequence_of_textbook_pairs(left, right, length):
    """Second and third pair: Cormen et al. 15.4 and the usual classroom example."""
    assert lcs_length(left, right) == length


@given(left=letters, right=letters)
def test_similarity_is_one_only_for_equal_routes(left, right):
    assert (similarity(left, right) == 1.0) == (left == right)


@pytest.mark.parametrize(("route", "place"), [("abc", None), ("abd", 2), ("ab", 2), ("abcd", 3), ("xyz", 0), ("", 0)])
def test_the_first_divergence_is_where_the_nearest_exemplar_is_left(route, place):
    assert first_divergence(route, ["abc"]) == place


def test_without_exemplars_there_is_nothing_to_diverge_from():
    assert first_divergence("abc", []) is None


@given(walk=walks, right=letters)
def test_visits_side_by_side_are_read_in_the_order_kindest_to_them(walk, right):
    """What the table computes is the best of all orders, tried one by one."""
    kindest = max(lcs_length(order, right) for order in orders(walk))

    assert lcs_length("".join(walk), right, supersteps(walk)) == kindest


@given(walk=walks, exemplar=letters)
def test_a_walk_diverges_only_where_it_does_in_every_order(walk, exemplar):
    """As late as the kindest order leaves the exemplar, counted in supersteps."""
    steps = supersteps(walk)
    places = [first_divergence(order, [exemplar]) for order in orders(walk)]
    found = first_divergence("".join(walk), [exemplar], steps)

    if None in places:
        assert found is None
    else:
        step_of = dict(enumerate(steps))
        latest = max(step_of.get(place, len(walk)) for place in places)
        assert step_of.get(found, len(walk)) == latest


def test_of_visits_side_by_side_the_one_that_does_not_follow_leaves():
    assert first_divergence("acb", ["abd"], [0, 1, 1]) == 1


def test_side_by_side_in_another_order_than_the_exemplar_diverges_nowhere():
    assert first_divergence("acbd", ["abcd"], [0, 1, 1, 2]) is None
