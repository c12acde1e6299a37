"""Baselines of other times: read as far as they say something, and what they do not say is said."""

import json

import pytest

from evals.analysis.history_baselines import read_stored
from tests.builders.blessed import a_state, baseline_of

SCORERS = ("route.pass", "decision.score")


def raw(without: str = "", **changes) -> bytes:
    told = {**baseline_of(a_state()), **changes}
    return json.dumps({name: value for name, value in told.items() if name != without}).encode()


def test_a_baseline_of_today_says_everything():
    stored = read_stored(raw(), SCORERS)

    assert stored.unread == ()
    assert stored.scores["v5", "route.pass"] == {"a": 1.0, "b": 1.0, "c": 0.0}


def test_members_nobody_knows_yet_are_no_obstacle():
    assert read_stored(raw(of_tomorrow={"x": [1]}), SCORERS).unread == ()


LACKING = {
    "states": "decision.score is not known",
    "scorers": "which scorers",
    "prompts": "which prompts",
    "topology": "which graph",
    "cases": "which labels",
}


@pytest.mark.parametrize(("member", "said"), LACKING.items(), ids=LACKING.keys())
def test_a_baseline_that_lacks_something_says_what(member, said):
    (only,) = read_stored(raw(without=member), SCORERS).unread

    assert said in only


def test_a_member_of_another_shape_costs_only_itself():
    stored = read_stored(raw(topology="one digest for all"), SCORERS)

    assert "its topology are of no known shape" in stored.unread
    assert stored.scores["v5", "route.pass"]["a"] == 1.0


BROKEN = {
    "a conflict": b"<<<<<<< ours\n{}\n=======\n{}\n>>>>>>> theirs\n",
    "nothing": b"",
    "another document": b"[1, 2]",
    "no values": raw(without="values"),
    "values that are no numbers": raw(values={"v5": {"a": {"route.pass": "yes"}}}),
    "no number at all": raw(values={"v5": {"a": {"route.pass": float("nan")}}}),
    "no UTF-8": b'{"values": {"\xff": {}}}',
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN.keys())
def test_what_is_no_baseline_is_a_sentence_and_no_crash(content):
    assert read_stored(content, SCORERS).startswith("it cannot be read")
