"""Three messages to the user, each saying what happened and what would help; an empty search has two texts."""

import pytest

from tests.builders.rules import a_draft, a_drafted_state, a_review_finding, a_verdict, some_retries, the_choice
from triage.state import HumanExchange, Retrieval


def asked(*found, **fields) -> HumanExchange:
    state = a_drafted_state(*found, **{"retry_reasons": some_retries(2), **fields})
    question = the_choice(state).question
    assert question is not None
    return question


def a_conflict():
    return asked(a_draft("shop/cart.py"), a_draft("shop/tax.py"), a_review_finding())


def a_doubt(confidence=0.54, **fields):
    return asked(a_draft(confidence=confidence), a_review_finding(), **fields)


def a_filtered_search():
    return asked(retrieval=Retrieval(searched=179, kept=0))


def test_a_conflict_offers_both_sides_to_choose_from():
    question = a_conflict().question

    assert "(1) shop/cart.py; (2) shop/tax.py" in question
    assert "2 further searches did not settle it" in question


def test_a_doubt_says_how_often_was_tried_and_how_sure_it_is():
    question = a_doubt().question

    assert "After 2 further searches" in question
    assert "54%" in question


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, "evidence is thin"),
        ({"critic_feedback": a_verdict("REJECTED")}, "found it unproven"),
        ({"critic_feedback": a_verdict("REJECTED", review="CHALLENGED")}, "review doubts"),
    ],
)
def test_a_doubt_says_what_is_doubted(fields, why):
    assert why in a_doubt(**fields).question


def test_a_search_whose_matches_were_filtered_asks_for_other_words():
    exchange = a_filtered_search()

    assert "Which names would stand in the code" in exchange.question
    assert "179 pieces of source" in exchange.context


def test_a_search_without_source_asks_where_the_code_is():
    exchange = asked(retrieval=Retrieval(searched=0, kept=0), repository="shop", visits=["web_search"])

    assert "no source code" in exchange.question
    assert "shop" in exchange.context


def test_the_messages_are_distinct():
    empty = asked(retrieval=Retrieval(searched=0, kept=0), visits=["web_search"])

    assert len({exchange.question for exchange in (a_conflict(), a_doubt(), a_filtered_search(), empty)}) == 4


def test_a_conflict_is_asked_about_before_a_doubt():
    """As in the seed: a preferred side is worth more than a longer report."""
    assert "(1)" in asked(a_draft("shop/cart.py", confidence=0.1), a_draft("shop/tax.py", confidence=0.1)).question
