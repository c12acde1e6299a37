"""The rules that leave a decision point no choice, each with a state it speaks about and one it does not."""

import pytest

from evals.models.case import DecisionPoint
from evals.triage.dataset.checks.label_checks import RULES, broken_rule

ERROR = {"agent_name": "web_search", "iteration": 1, "error": "no answer"}
ASKED = {"question": "q", "answer": "a"}
CRITIC = {"agent_name": "critic"}
REJECTED = {"verdict": "REJECTED"}
LOOKED = {"visits": ["investigator"], "iterations": 1}


def a_point(state, *accept):
    return DecisionPoint(id="p", state=state, accept=dict.fromkeys(accept, 1.0), why="because it says so")


@pytest.mark.parametrize(
    ("rule", "state", "accepted"),
    [
        ("nothing_after_the_report", LOOKED | {"report": {"root_cause": "x"}}, "critic"),
        ("nothing_after_the_report", LOOKED, "end"),
        ("the_limit_ends_it", {"visits": ["investigator"] * 10, "iterations": 10}, "critic"),
        ("the_limit_ends_it", LOOKED | {"max_iterations": 1}, "codebase_search"),
        ("the_investigator_is_first", {}, "codebase_search"),
        ("two_questions_at_most", LOOKED | {"human_exchanges": [ASKED, ASKED]}, "human_input"),
        ("two_code_searches_at_most", {"visits": ["codebase_search"] * 2, "iterations": 2}, "codebase_search"),
        ("one_critic_at_most", LOOKED | {"findings": [CRITIC]}, "critic"),
        ("nobody_fails_three_times", LOOKED | {"agent_errors": [ERROR, ERROR]}, "web_search"),
        ("a_rejection_binds", {"visits": ["investigator", "critic"], "critic_feedback": REJECTED}, "writer"),
        ("the_critic_precedes_the_writer", LOOKED | {"supervisor_confidence": 0.84}, "writer"),
    ],
)
def test_a_label_against_a_rule_is_told_which(rule, state, accepted):
    [said] = [each.__doc__ for each in RULES if each.__name__ == rule]

    assert broken_rule(a_point(state, accepted)) == (accepted, said)


@pytest.mark.parametrize(
    ("state", "accepted"),
    [
        ({}, "investigator"),
        (LOOKED | {"report": {"root_cause": "x"}}, "end"),
        (LOOKED | {"human_exchanges": [ASKED]}, "human_input"),
        (LOOKED | {"agent_errors": [ERROR]}, "web_search"),
        ({"visits": ["codebase_search"] * 2, "redirect_instructions": ["look again"]}, "codebase_search"),
        ({"visits": ["codebase_search"] * 2, "human_exchanges": [ASKED, ASKED]}, "codebase_search"),
        ({"visits": ["investigator", "critic", "codebase_search"], "critic_feedback": REJECTED}, "writer"),
        ({"visits": ["critic"], "critic_feedback": REJECTED, "iterations": 10}, "writer"),
        (LOOKED | {"supervisor_confidence": 0.85}, "writer"),
        ({"visits": ["investigator", "critic"], "supervisor_confidence": 0.7}, "writer"),
    ],
)
def test_a_label_that_keeps_the_rules_is_left_alone(state, accepted):
    assert broken_rule(a_point(state, accepted)) is None


def test_a_report_without_a_review_may_be_defensible_though_not_best():
    """The confidence is that of the decision before; the next one may be surer."""
    accept = {"critic": 1.0, "writer": 0.5}
    point = DecisionPoint(id="p", state=LOOKED | {"supervisor_confidence": 0.8}, accept=accept, why="so")

    assert broken_rule(point) is None


def test_a_defensible_answer_is_held_to_the_rules_too():
    assert broken_rule(a_point({}, "investigator", "critic")) == ("critic", "Nothing comes before the investigator.")
