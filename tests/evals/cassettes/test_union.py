"""Two branches' recordings of one case, joined by interaction."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.cassettes.cassette_changes import preferring, union
from evals.cassettes.cassette_data import Cassette
from tests.builders.interaction import a_cassette, an_interaction

NOTHING = Cassette("case.yaml")
OLD, NEW, OTHER = (an_interaction("q", answer=answer) for answer in ("old", "new", "other"))


def answers(merged):
    return [found.response["choices"][0]["message"]["content"] for found in merged.interactions]


@pytest.mark.parametrize(("ours", "theirs"), [(OLD, NEW), (NEW, OLD)])
def test_an_answer_that_one_side_replaced_is_the_new_one(ours, theirs):
    assert answers(union(a_cassette(OLD), a_cassette(ours), a_cassette(theirs))) == ["new"]


@pytest.mark.parametrize("base", [NOTHING, a_cassette(OLD)], ids=["both came", "both replaced"])
def test_one_request_with_two_answers_is_a_conflict(base):
    merged = union(base, a_cassette(NEW), a_cassette(OTHER))

    assert [(found.ours, found.theirs) for found in merged.conflicts] == [(NEW, OTHER)]
    assert merged.interactions == ()


@pytest.mark.parametrize(("side", "winner"), [("ours", "new"), ("theirs", "other")])
def test_a_conflict_can_be_settled_for_a_side(side, winner):
    merged = union(NOTHING, a_cassette(NEW), a_cassette(OTHER, an_interaction("r")))

    settled = list(preferring(merged, side))

    assert winner in str([found.response for found in settled])
    assert len(settled) == 2


def test_what_one_side_pruned_comes_back_if_the_other_has_it():
    """Whether the other side's new suite needs it, no merge can know."""
    merged = union(a_cassette(OLD, an_interaction("r")), a_cassette(OLD), a_cassette(OLD, an_interaction("r")))

    assert len(merged.interactions) == 2


RECORDED = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy"), st.sampled_from("12")), max_size=4)


def a_side(drawn):
    """At most one answer per question, told at one of two times."""
    told = {words: (answer, day) for words, answer, day in drawn}
    found = (an_interaction(w, answer=a, recorded_at=f"2026-01-0{d}T00:00:00+00:00") for w, (a, d) in told.items())
    return Cassette("case.yaml", found)


@given(RECORDED, RECORDED, RECORDED)
def test_it_does_not_matter_who_merges_whom(base, ours, theirs):
    forth = union(a_side(base), a_side(ours), a_side(theirs))
    back = union(a_side(base), a_side(theirs), a_side(ours))

    assert forth.interactions == back.interactions
    assert [each.ours for each in forth.conflicts] == [each.theirs for each in back.conflicts]
