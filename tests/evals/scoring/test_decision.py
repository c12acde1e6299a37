"""Scores of single decisions."""

import pytest

from evals.models.metrics import Scored, Skipped
from evals.scoring.route_scorers import decision_score
from evals.scoring.scorer import score
from tests.builders.case import a_case, a_point
from tests.builders.trace import a_trace, an_answer

CASE = a_case(points=[a_point("p1", codebase_search=1.0, web_search=0.5), a_point("p2", writer=1.0)])


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [("codebase_search", "writer", 1.0), ("web_search", "writer", 0.75), ("critic", "critic", 0.0)],
)
def test_a_decision_is_graded_by_its_label(first, second, value):
    trace = a_trace(points=[an_answer("p1", first), an_answer("p2", second)])

    assert score(decision_score, CASE, trace) == Scored(value=value)


def test_the_choice_counts_and_not_where_a_guard_sent_it():
    trace = a_trace(points=[an_answer("p1", "codebase_search", routed="writer"), an_answer("p2", "writer")])

    assert score(decision_score, CASE, trace).value == 1


@pytest.mark.parametrize("answers", [[an_answer("p1"), an_answer("p2", None)], [an_answer("p1")]])
def test_one_unrecorded_point_skips_the_score(answers):
    """Else a variant could look better by what nobody recorded of it."""
    outcome = score(decision_score, CASE, a_trace(points=answers))

    assert outcome == Skipped(reason="1 of 2 decision points are not recorded")


def test_a_state_that_leaves_no_choice_is_left_out():
    trace = a_trace(points=[an_answer("p1", "codebase_search"), an_answer("p2", "critic", say=False)])

    assert score(decision_score, CASE, trace) == Scored(value=1)


def test_a_case_that_leaves_no_choice_at_all_is_skipped_and_not_wrong():
    trace = a_trace(points=[an_answer("p1", "critic", say=False), an_answer("p2", "critic", say=False)])

    outcome = score(decision_score, CASE, trace)

    assert outcome == Skipped(reason="the router has no choice of its own at any of the case's decision points")


def test_frozen_states_count_even_where_the_route_left_the_tape():
    """They were asked apart from the route, and their answers are on tape."""
    off_tape = a_trace(points=[an_answer("p1"), an_answer("p2", "writer")], provenance="frontier", frontier=3)

    assert score(decision_score, CASE, off_tape).kind == "scored"
