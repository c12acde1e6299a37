"""The order of the rules: first run, review, finalise, retry, ask, make do; each with what bounds it."""

import pytest

from tests.builders.rules import (
    a_draft,
    a_drafted_state,
    a_review_finding,
    a_verdict,
    an_outside_cause,
    some_retries,
    the_choice,
)
from tests.builders.state import a_finding, a_report, a_state, an_agent_error, an_exchange
from triage.state import Retrieval

LOW = a_draft(confidence=0.4)


def test_nothing_known_goes_to_the_investigator_and_costs_no_retry():
    """Without the first-run guard, confidence 0 would be a quality issue before there is anything to judge."""
    choice = the_choice(a_state())

    assert (choice.node, choice.decision, choice.retry) == ("investigator", "first_run", None)


def test_a_hypothesis_goes_to_the_codebase_search_and_costs_no_retry():
    choice = the_choice(a_state(findings=[a_finding()]))

    assert (choice.node, choice.decision, choice.retry) == ("codebase_search", "first_run", None)


def test_a_draft_is_reviewed_once():
    unreviewed = a_drafted_state(a_draft(), critic_feedback=None)

    assert the_choice(unreviewed).node == "critic"
    assert the_choice(a_drafted_state()).node == "writer"


def test_a_retried_draft_is_not_reviewed_again():
    state = a_drafted_state(LOW, a_review_finding(), a_draft(), critic_feedback=a_verdict("REJECTED", evidence_seen=3))

    assert the_choice(state).node == "writer"


@pytest.mark.parametrize(("confidence", "node"), [(0.84, "critic"), (0.85, "writer")])
def test_a_very_sure_draft_goes_unreviewed_as_the_policy_wants_it(confidence, node):
    assert the_choice(a_drafted_state(a_draft(confidence=confidence), critic_feedback=None)).node == node


def test_a_draft_without_issues_is_finalised():
    choice = the_choice(a_drafted_state())

    assert (choice.node, choice.decision, choice.reason) == ("writer", "finalize", "no_issue")


ISSUES = {
    "low_confidence": a_drafted_state(LOW, a_review_finding()),
    "citation_issue": a_drafted_state(a_draft("shop/invented.py"), a_review_finding()),
    "hallucination": a_drafted_state(critic_feedback=a_verdict("REJECTED", review="CHALLENGED")),
    "critic_retry": a_drafted_state(critic_feedback=a_verdict("REJECTED")),
    "conflicting_locations": a_drafted_state(a_draft("shop/cart.py"), a_draft("shop/tax.py"), a_review_finding()),
    "nothing_retrieved": a_drafted_state(retrieval=Retrieval(searched=10, kept=0)),
}


@pytest.mark.parametrize("reason", ISSUES)
def test_every_issue_is_searched_again_before_anybody_is_asked(reason):
    choice = the_choice(ISSUES[reason])

    assert (choice.node, choice.decision, choice.reason) == ("codebase_search", "retry", reason)


@pytest.mark.parametrize("reason", ISSUES)
def test_every_issue_is_asked_about_once_retries_are_spent(reason):
    choice = the_choice(ISSUES[reason].model_copy(update={"retry_reasons": some_retries(2)}))

    assert (choice.node, choice.decision, choice.reason) == ("human_input", "HITL_triggered", reason)


@pytest.mark.parametrize("reason", ISSUES)
def test_no_issue_is_asked_about_twice(reason):
    """The answer opens a round; what is still wrong after it goes to the report."""
    found = [*ISSUES[reason].findings, *ISSUES[reason].findings]
    state = ISSUES[reason].model_copy(
        update={"retry_reasons": some_retries(2), "human_exchanges": [an_exchange()], "findings": found}
    )
    choice = the_choice(state)

    assert (choice.node, choice.decision, choice.reason) == ("writer", "finalize", "all_means_spent")


def test_a_retry_is_logged_with_the_signals_that_caused_it():
    state = a_drafted_state(a_draft("shop/invented.py", confidence=0.612), retry_reasons=some_retries(1))

    assert the_choice(state).retry.model_dump() == {
        "iteration": 2,
        "confidence": 0.612,
        "reason": "citation_issue",
        "citation_issue": True,
        "hallucination": False,
        "over_compression": False,
    }


def test_a_doubted_draft_is_logged_as_a_hallucination():
    assert the_choice(ISSUES["hallucination"]).retry.hallucination


@pytest.mark.parametrize(("setting", "retries"), [(None, 2), (0, 2), (1, 1), (3, 3)])
def test_a_missing_number_of_retries_is_two(setting, retries):
    """`or 2` in the seed: a comparison with None would be an error."""
    spent = [
        the_choice(ISSUES["low_confidence"].model_copy(update={"retry_reasons": some_retries(n)}), max_retries=setting)
        for n in range(5)
    ]

    assert [choice.decision for choice in spent] == ["retry"] * retries + ["HITL_triggered"] * (5 - retries)


def test_where_the_code_names_no_place_the_last_retry_looks_outside():
    state = a_drafted_state(a_draft("not identified", confidence=0.4, relevant_files=()))

    assert the_choice(state).node == "codebase_search"
    assert the_choice(state.model_copy(update={"retry_reasons": some_retries(1)})).node == "web_search"


def test_nobody_looks_outside_twice():
    nowhere = an_outside_cause("none identified", confidence=0.2)
    state = a_drafted_state(a_draft("not identified"), nowhere, retry_reasons=some_retries(1))

    assert the_choice(state).node == "codebase_search"


def test_an_empty_repository_is_not_searched_again():
    empty = Retrieval(searched=0, kept=0)
    state = a_drafted_state(a_draft("not identified", relevant_files=()), retrieval=empty)

    assert the_choice(state, paths=frozenset()).node == "web_search"
    assert the_choice(state.model_copy(update={"visits": ["web_search"]}), paths=frozenset()).node == "human_input"


def test_a_search_that_failed_twice_is_replaced_and_then_asked_about():
    broken = {"agent_errors": [an_agent_error("codebase_search")] * 2}
    state = a_state(findings=[a_finding()], **broken)

    assert the_choice(state).node == "web_search"
    assert the_choice(state.model_copy(update={"visits": ["web_search"]})).node == "human_input"


def test_a_search_that_failed_once_is_tried_again_without_a_retry():
    choice = the_choice(a_state(findings=[a_finding()], agent_errors=[an_agent_error("codebase_search")]))

    assert (choice.node, choice.decision) == ("codebase_search", "first_run")


def test_an_investigator_that_failed_twice_is_done_without():
    assert the_choice(a_state(agent_errors=[an_agent_error("investigator")] * 2)).node == "codebase_search"


def test_a_critic_that_failed_twice_is_done_without():
    state = a_drafted_state(a_draft(), critic_feedback=None, agent_errors=[an_agent_error("critic")] * 2)

    assert the_choice(state).node == "writer"


def test_an_answer_is_investigated_and_searched_anew():
    answered = ISSUES["low_confidence"].model_copy(
        update={"retry_reasons": some_retries(2), "human_exchanges": [an_exchange()]}
    )
    investigated = answered.model_copy(update={"findings": [*answered.findings, a_finding()]})

    assert (the_choice(answered).node, the_choice(answered).reason) == ("investigator", "user_answered")
    assert the_choice(investigated).node == "codebase_search"


def test_with_the_report_written_the_job_ends():
    choice = the_choice(a_state(report=a_report()))

    assert (choice.node, choice.decision) == ("end", "finalize")


def test_a_writer_that_failed_twice_ends_the_job():
    state = a_drafted_state(agent_errors=[an_agent_error("writer")] * 2)

    assert the_choice(state).node == "end"


def test_a_writer_that_failed_once_is_tried_again():
    assert the_choice(a_drafted_state(agent_errors=[an_agent_error("writer")])).node == "writer"


def test_a_conflict_is_searched_with_the_words_of_both_sides():
    state = a_drafted_state(a_draft("shop/cart.py::Cart.add"), a_draft("shop/tax.py::with_tax"), a_review_finding())
    scope = the_choice(state).scope

    assert scope.keywords == ("shop/cart.py", "cart", "Cart", "add", "shop/tax.py", "tax", "with_tax")
    assert "shop/cart.py and in shop/tax.py" in scope.instructions[0]


def test_what_lies_outside_gives_no_keyword():
    scope = the_choice(a_drafted_state(an_outside_cause(), a_draft("shop/tax.py"), a_review_finding())).scope

    assert scope.keywords == ("shop/tax.py", "tax")


@pytest.mark.parametrize(("spent", "chunks"), [(0, 10), (1, 15)])
def test_every_retry_reads_more(spent, chunks):
    choice = the_choice(a_drafted_state(LOW, retry_reasons=some_retries(spent)))

    assert (choice.scope.chunks, choice.scope.min_score) == (chunks, 0.20)


def test_a_retry_tells_the_search_what_was_wrong():
    review = a_verdict("REJECTED", required_evidence=("the line that is at fault",))
    scope = the_choice(a_drafted_state(a_draft("shop/invented.py"), critic_feedback=review)).scope

    assert scope.instructions[0].startswith("shop/invented.py is not in the repository")
    assert scope.instructions[1] == "A reviewer asks for: the line that is at fault"
