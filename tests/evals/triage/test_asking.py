"""Scores of asking the user."""

import pytest

from evals.models.case import ScriptedAnswer
from evals.scoring.scorer import score
from evals.triage.scorers import ask_false, ask_required, ask_topics
from tests.builders.case import a_case
from tests.builders.trace import a_trace, an_exchange

ANSWERS = [ScriptedAnswer(topic=topic, keywords=(topic,), answer="yes") for topic in ("version", "platform")]


@pytest.mark.parametrize(("route", "value"), [(["investigator", "human_input"], 1), (["investigator"], 0)])
def test_asking_counts_where_it_is_required(route, value):
    assert score(ask_required, a_case(question="required"), a_trace(*route)).value == value


@pytest.mark.parametrize(("route", "value"), [(["investigator", "human_input"], 1), (["investigator"], 0)])
def test_asking_counts_against_where_it_is_forbidden(route, value):
    assert score(ask_false, a_case(question="forbidden"), a_trace(*route)).value == value


@pytest.mark.parametrize(
    ("subject", "policy"),
    [(ask_required, "forbidden"), (ask_required, "allowed"), (ask_false, "required"), (ask_false, "allowed")],
)
def test_a_policy_that_does_not_fit_is_skipped(subject, policy):
    assert score(subject, a_case(question=policy), a_trace()).kind == "skipped"


def test_the_topics_touched_are_counted_once():
    exchanges = [an_exchange(topic="version"), an_exchange(topic="version"), an_exchange(topic=None)]

    outcome = score(ask_topics, a_case(question="required", answers=ANSWERS), a_trace(exchanges=exchanges))

    assert outcome.value == 0.5


@pytest.mark.parametrize(("policy", "answers"), [("forbidden", ANSWERS), ("required", []), ("allowed", ANSWERS)])
def test_without_a_topic_to_ask_for_the_score_is_skipped(policy, answers):
    assert score(ask_topics, a_case(question=policy, answers=answers), a_trace()).kind == "skipped"
