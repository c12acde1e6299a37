"""Whose turn each call was made in, and when nobody can tell."""

import pytest

from evals.otlp.span_data import steps_of
from tests.builders.trace import a_call, a_decision, a_trace


def turns_of(trace, *, asks_once=True):
    """Each turn's path with the places of its calls; calls of no turn below `None`."""
    found = {}
    for step in steps_of(trace, asks_once=asks_once):
        for turn in step.turns:
            found[turn.path] = [number for number, _ in turn.calls]
        found[None] = found.get(None, []) + [number for number, _ in step.loose]
    return found


def calls(*agents):
    return tuple(a_call(agent) for agent in agents)


def test_calls_stand_in_the_turn_of_their_agent():
    trace = a_trace(
        "investigator", "writer", calls=calls("supervisor", "investigator", "supervisor", "writer", "writer")
    )

    assert turns_of(trace) == {
        "decision 0": [0],
        "visit 0": [1],
        "decision 1": [2],
        "visit 1": [3, 4],
        None: [],
    }


def test_a_correction_is_a_second_call_of_the_same_decision():
    """Nobody else speaks between the two decisions: the person asked makes no call."""
    trace = a_trace(
        "human_input",
        "writer",
        decisions=[a_decision(0, "human_input", corrections=1), a_decision(1)],
        calls=calls("supervisor", "supervisor", "supervisor", "writer"),
    )

    assert turns_of(trace) == {"decision 0": [0, 1], "visit 0": [], "decision 1": [2], "visit 1": [3], None: []}


def test_of_another_supervisor_nobody_knows_how_often_it_asks():
    trace = a_trace(
        "human_input",
        "writer",
        decisions=[a_decision(0, "human_input"), a_decision(1)],
        calls=calls("supervisor", "supervisor", "supervisor", "writer"),
    )

    assert turns_of(trace, asks_once=False)[None] == [0, 1, 2]


def test_two_visits_side_by_side_share_their_calls_with_nobody():
    trace = a_trace(
        "critic", "critic", "writer", supersteps=(1, 1, 2), decisions=[], calls=calls("critic", "critic", "writer")
    )

    assert turns_of(trace, asks_once=False) == {"visit 0": [], "visit 1": [], "visit 2": [2], None: [0, 1]}


def test_two_visits_in_a_row_without_anybody_between_are_not_told_apart():
    trace = a_trace(
        "codebase_search", "codebase_search", "writer", decisions=[], calls=calls("codebase_search", "writer")
    )

    assert turns_of(trace, asks_once=False) == {"visit 0": [], "visit 1": [], "visit 2": [1], None: [0]}


@pytest.mark.parametrize("asks_once", [True, False])
def test_no_call_is_lost_and_none_is_told_twice(asks_once):
    agents = ("supervisor", "critic", "supervisor", "web_search", "critic", "writer", "supervisor", "critic", "judge")
    trace = a_trace("web_search", "critic", "critic", "writer", supersteps=(1, 1, 3, 4), calls=calls(*agents))

    told = [number for numbers in turns_of(trace, asks_once=asks_once).values() for number in numbers]
    assert sorted(told) == list(range(len(agents)))
