"""Rules in words."""

import pytest

from evals.routes.route_check import asks, read_words, rules_of
from tests.builders.case import NODES, a_constraint, an_alternative

TOLD = [
    (a_constraint("init"), "begins with investigator"),
    (a_constraint("end", ["writer"]), "ends with writer"),
    (a_constraint("existence", ["critic"], max=0), "no critic"),
    (a_constraint("absence", ["critic"]), "no critic"),
    (a_constraint("existence", ["critic"], min=1), "critic at least once"),
    (a_constraint("existence", ["critic"], min=1, max=2), "critic at least once and at most 2 times"),
    (a_constraint("precedence", ["web_search", "critic"], ["writer"]), "web_search or critic before writer"),
    (a_constraint("not_succession", ["writer"], NODES), "after writer, no visit"),
    (a_constraint("absence", ["critic"], if_={"confidence": (">=", 0.85)}), "no critic, if confidence >= 0.85"),
    (a_constraint("absence", ["critic"], if_={"doubts_left": (">", 1)}), "no critic, if doubts left > 1"),
]


@pytest.mark.parametrize(("constraint", "words"), TOLD, ids=[words for _, words in TOLD])
def test_a_constraint_is_told_in_words(constraint, words):
    assert asks(constraint, NODES) == words


def test_the_limits_of_the_length_are_rules_without_a_weight():
    rules = rules_of(an_alternative(a_constraint(id="first", w=2, hard=True), a_constraint(id="second", w=0.5)))

    assert [(rule.id, rule.force) for rule in rules] == [
        ("first", "hard 2"),
        ("second", "soft 0.5"),
        ("steps.max", "limit"),
        ("hard_max", "hard limit"),
    ]


def test_it_is_said_at_which_decision_a_condition_read_the_confidence():
    assert read_words("confidence", 0.87) == "confidence at the decision that ended the route: 0.87"


def test_what_was_not_recorded_is_no_number():
    assert read_words("confidence_before_critic", None) == "confidence before critic: not recorded"
