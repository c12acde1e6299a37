"""How far a route is from its exemplars."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.routes.distance import first_divergence, lcs_length, similarity

letters = st.text("abc", max_size=8)


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
