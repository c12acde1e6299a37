"""Four signals, each sufficient alone; conflicts and empty searches beside them."""

import pytest

from tests.builders.rules import FILES, a_draft, a_drafted_state, a_verdict
from tests.builders.state import a_finding, a_state
from triage.graph_configuration import RulesSettings
from triage.state import Retrieval
from triage.supervisors.rules.rules_signals import Signals, confidence_of, signals_of

QUIET = {"confidence": 0.8, "low_confidence": False, "citation_issue": False, "hallucination": False}


def the_signals(state, paths=FILES, **settings) -> Signals:
    return signals_of(state, paths, RulesSettings(**settings))


def some_signals(**fields) -> Signals:
    return Signals(**{**QUIET, "critic_retry": False, **fields})


ALONE = {
    "low_confidence": a_drafted_state(a_draft(confidence=0.64)),
    "citation_issue": a_drafted_state(a_draft(relevant_files=("shop/invented.py",))),
    "hallucination": a_drafted_state(critic_feedback=a_verdict(review="CHALLENGED")),
    "critic_retry": a_drafted_state(critic_feedback=a_verdict("REJECTED")),
}


@pytest.mark.parametrize("name", ALONE)
def test_each_signal_is_sufficient_alone(name):
    signals = the_signals(ALONE[name])
    raised = [other for other in ALONE if getattr(signals, other)]

    assert raised == [name]
    assert signals.reason == name


@pytest.mark.parametrize(("confidence", "low"), [(0.64, True), (0.65, False), (0.66, False)])
def test_confidence_is_low_below_the_bar_and_not_on_it(confidence, low):
    assert the_signals(a_drafted_state(a_draft(confidence=confidence))).low_confidence is low


def test_a_cited_path_is_checked_against_the_repository_and_not_against_the_snippets():
    state = a_drafted_state(a_draft("shop/tax.py", relevant_files=()), codebase_evidence=["shop/cart.py:1-3"])

    assert not the_signals(state).citation_issue
    assert the_signals(state, paths=frozenset({"shop/cart.py"})).citation_issue


def test_an_invented_place_of_the_fault_is_a_citation_issue():
    assert the_signals(a_drafted_state(a_draft("shop/nowhere.py::f"))).citation_issue


def test_only_the_newest_drafts_citations_count():
    state = a_drafted_state(a_draft("shop/nowhere.py"), a_draft("shop/cart.py"), a_draft("shop/cart.py"))

    assert not the_signals(state).citation_issue


def test_a_review_that_something_landed_after_raises_nothing():
    spent = a_verdict("REJECTED", review="CHALLENGED", confidence=0.1, evidence_seen=2)

    assert the_signals(a_drafted_state(critic_feedback=spent)).reason is None


@pytest.mark.parametrize(("review", "confidence"), [(0.5, 0.8), (0.7, 1.0), (0.2, 0.5), (0.0, 0.3), (1.0, 1.0)])
def test_a_binding_review_moves_the_drafts_confidence(review, confidence):
    state = a_drafted_state(critic_feedback=a_verdict(confidence=review))

    assert confidence_of(state) == pytest.approx(confidence)


def test_without_a_draft_there_is_no_confidence():
    assert confidence_of(a_state(findings=[a_finding(confidence=0.9)])) == 0.0


def test_two_places_are_a_conflict():
    signals = the_signals(a_drafted_state(a_draft("shop/cart.py"), a_draft("shop/tax.py")))

    assert signals.sides == ("shop/cart.py", "shop/tax.py")
    assert signals.reason == "conflicting_locations"


def test_a_third_voice_settles_a_conflict():
    state = a_drafted_state(a_draft("shop/cart.py"), a_draft("shop/tax.py"), a_draft("shop/tax.py"))

    assert the_signals(state).sides == ()


def test_a_conflict_is_the_reason_only_where_nothing_else_is_wrong():
    assert some_signals(sides=("a", "b"), low_confidence=True).reason == "low_confidence"
    assert some_signals(sides=("a", "b")).reason == "conflicting_locations"


def test_a_search_of_nothing_is_the_first_reason():
    assert some_signals(nothing="empty", hallucination=True).reason == "nothing_retrieved"


@pytest.mark.parametrize(
    ("retrieval", "nothing"),
    [(None, None), ((0, 0), "empty"), ((179, 0), "filtered"), ((179, 1), None)],
)
def test_filtered_and_empty_are_told_apart(retrieval, nothing):
    seen = Retrieval(searched=retrieval[0], kept=retrieval[1]) if retrieval else None

    assert the_signals(a_drafted_state(retrieval=seen)).nothing == nothing


@pytest.mark.parametrize(
    ("kept", "evidence", "draft", "lost"),
    [
        (5, [], a_draft(), True),
        (5, ["shop/cart.py:1-9\n..."], a_draft(), False),
        (0, [], a_draft(), False),
        (5, [], a_draft("not identified", relevant_files=()), False),
    ],
    ids=["named, and nothing behind it", "shown", "nothing was read", "nothing is named"],
)
def test_evidence_that_was_lost_on_the_way_is_told_and_no_reason_for_a_retry(kept, evidence, draft, lost):
    state = a_drafted_state(draft, retrieval=Retrieval(searched=9, kept=kept), codebase_evidence=evidence)

    assert the_signals(state).over_compression == lost
    assert the_signals(state).reason in (None, "nothing_retrieved")
