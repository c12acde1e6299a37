"""Scores of the route."""

from evals.models.outcome import Scored
from evals.scorers.route import route_pass, route_score
from evals.scorers.scorer import score
from tests.builders.case import a_case
from tests.builders.trace import a_trace


def test_the_honest_route_passes():
    assert score(route_pass, a_case(), a_trace()) == Scored(value=1)


def test_the_confidence_before_the_writer_decides_whether_the_critic_was_needed():
    unsure = a_trace("investigator", "codebase_search", "writer", confidence=0.7)
    sure = a_trace("investigator", "codebase_search", "writer", confidence=0.9)

    assert [score(route_pass, a_case(), trace).value for trace in (unsure, sure)] == [0, 1]


def test_visits_side_by_side_are_not_held_against_the_route():
    crossed = ("investigator", "codebase_search", "writer", "critic")

    assert score(route_pass, a_case(), a_trace(*crossed)).value == 0
    assert score(route_pass, a_case(), a_trace(*crossed, supersteps=[0, 1, 2, 2])).value == 1


def test_a_broken_hard_rule_halves_the_score():
    asked = a_trace("investigator", "human_input", "codebase_search", "critic", "writer")

    assert score(route_score, a_case(), asked).value < 0.5
