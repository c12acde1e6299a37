"""What the rules read out of a state: drafts, places, citations, reviews, and who has been given up."""

import pytest

from tests.builders.rules import FILES, a_draft, a_drafted_state, a_review_finding, a_verdict, an_outside_cause
from tests.builders.state import a_finding, a_state, an_agent_error, an_exchange
from triage.supervisors.rules.rules_signals import (
    binding_review,
    cited_files,
    draft_of,
    file_of,
    given_up,
    places,
    settled,
    this_round,
)


def places_of(*found):
    return places(a_drafted_state(*found), FILES)


def test_the_newest_answer_of_a_search_is_the_draft():
    state = a_drafted_state(a_draft("a.py"), a_draft("b.py"), a_review_finding())

    assert draft_of(state).details == "b.py"


def test_a_new_investigation_begins_a_round():
    state = a_drafted_state(a_draft("old.py"), a_finding("investigator"), a_draft("new.py"))

    assert [finding.details for finding in this_round(state)] == ["new.py"]


@pytest.mark.parametrize(
    ("location", "file"),
    [
        ("shop/cart.py::Cart.add", "shop/cart.py"),
        ("shop/cart.py:12", "shop/cart.py"),
        ("`shop/cart.py`::add", "shop/cart.py"),
        ("./shop/cart.py", "shop/cart.py"),
        ("not identified", ""),
    ],
)
def test_a_location_is_reduced_to_its_file(location, file):
    assert file_of(location) == file


def test_the_place_of_the_fault_is_a_citation_too():
    draft = a_draft("shop/mail.py::send", relevant_files=("shop/cart.py", "shop/mail.py"))

    assert cited_files(draft) == ["shop/mail.py", "shop/cart.py"]


@pytest.mark.parametrize("finding", [None, an_outside_cause(), a_finding("investigator", relevant_files=("cart",))])
def test_only_a_codebase_search_cites_files(finding):
    assert cited_files(finding) == []


def test_a_critic_with_a_better_hypothesis_is_a_voice():
    critic = a_review_finding("The tax is wrong in `shop/tax.py`.")

    assert places_of(a_draft("shop/cart.py"), critic) == ["shop/cart.py", "shop/tax.py"]


@pytest.mark.parametrize("details", ["Verdict: UNCERTAIN. Gaps: shop/tax.py was not read", "The tax is wrong."])
def test_a_critic_that_names_no_place_of_its_own_is_no_voice(details):
    assert places_of(a_draft("shop/cart.py"), a_review_finding(details)) == ["shop/cart.py"]


def test_the_investigator_is_no_voice():
    """It has read no code; what it names is what the search is to check."""
    state = a_state(findings=[a_finding("investigator", details="shop/tax.py")])

    assert places(state, FILES) == []


def test_places_named_before_the_user_answered_no_longer_count():
    assert places_of(a_draft("old.py"), a_finding("investigator"), a_draft("new.py")) == ["new.py"]


@pytest.mark.parametrize(
    ("named", "is_settled"),
    [([], True), (["a"], True), (["a", "b"], False), (["a", "b", "b"], True), (["a", "b", "a"], True),
     (["a", "b", "c"], False), (["a", "a", "b"], False), (["a", "b", "b", "a"], False)],
)  # fmt: skip
def test_a_place_is_settled_by_more_than_half_of_the_voices(named, is_settled):
    assert settled(named) is is_settled


def test_a_review_binds_until_something_lands():
    found = [a_finding(), a_draft(), a_review_finding()]
    seen = a_verdict("REJECTED", evidence_seen=3)

    assert binding_review(a_state(findings=found, critic_feedback=seen)) == seen
    assert binding_review(a_state(findings=[*found, a_draft()], critic_feedback=seen)) is None
    assert binding_review(a_state(findings=found, human_exchanges=[an_exchange()], critic_feedback=seen)) is None


@pytest.mark.parametrize(("failures", "over"), [(0, False), (1, False), (2, True)])
def test_an_agent_that_failed_twice_is_given_up(failures, over):
    assert given_up(a_state(agent_errors=[an_agent_error("critic")] * failures), "critic") is over


def test_visits_that_brought_nothing_are_failures_even_if_nobody_said_so():
    assert given_up(a_state(visits=["critic", "critic"]), "critic")
    assert not given_up(a_state(visits=["critic", "critic"], findings=[a_review_finding()]), "critic")
