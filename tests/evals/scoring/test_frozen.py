"""Frozen states: grades by state, whole cases only."""

from evals.scoring.registry import score_trials
from evals.scoring.route_scorers import State, state_grades, unanswered_states
from tests.builders.case import a_case, a_point
from tests.builders.trace import a_trace, an_answer

CASE = a_case("c", points=[a_point("p", codebase_search=1.0), a_point("q", writer=1.0, critic=0.5)])
CASES = {"c": CASE}


def trials(*answers):
    """One sample per pair of answers to p and q."""
    traces = [
        a_trace(case_id="c", variant="v3", sample=n, points=[an_answer("p", first), an_answer("q", second)])
        for n, (first, second) in enumerate(answers)
    ]
    return score_trials(CASES, traces)


def test_each_answer_has_the_grade_of_its_label():
    found = state_grades(trials(("codebase_search", "critic")), CASES, "v3", "decision.score")

    assert found == {State("c", "p", "codebase_search"): 1.0, State("c", "q", "writer"): 0.5}


def test_samples_are_averaged_state_by_state():
    found = state_grades(trials(("codebase_search", "writer"), ("writer", "writer")), CASES, "v3", "decision.score")

    assert [*found.values()] == [0.5, 1.0]


def test_a_case_with_a_state_nobody_recorded_is_left_out_whole():
    """Else two variants would be compared on different questions."""
    half = trials(("codebase_search", None))

    assert state_grades(half, CASES, "v3", "decision.score") == {}
    assert [state.point for state in unanswered_states(half, CASES, "v3", "decision.score")] == ["p", "q"]


def test_a_sample_off_the_tape_leaves_its_share_open():
    found = unanswered_states(trials(("writer", "writer"), ("writer", None)), CASES, "v3", "decision.score")

    assert [*found.values()] == [0.5, 0.5]
