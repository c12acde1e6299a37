"""Scores of cost."""

import pytest

from evals.models.metrics import Skipped
from evals.models.trace import Visit
from evals.scoring import cost_scorers as cost
from evals.scoring.scorer import score
from evals.triage import scorers as supervisor
from tests.builders.case import a_case
from tests.builders.trace import a_call, a_decision, a_trace, an_exchange, an_override

TRACE = a_trace(
    calls=[
        a_call(prompt=100, completion=20, latency_ms=500, model="gpt-4o-mini"),
        a_call(prompt=10, completion=1, latency_ms=250, model="gpt-4o-mini-2024-07-18"),
    ],
    decisions=[
        a_decision(0, overrides=[an_override(), an_override("iteration_limit")], corrections=1),
        a_decision(1, forced_fallback=True, corrections=1, overrides=[an_override()]),
    ],
    exchanges=[an_exchange(), an_exchange(topic="version")],
)


@pytest.mark.parametrize(
    ("subject", "value"),
    [
        (cost.visits, 4),
        (cost.llm_calls, 2),
        (cost.tokens, 131),
        (cost.price_usd, (110 * 0.15 + 21 * 0.6) / 1e6),
        (cost.latency_s, 0.75),
        (supervisor.corrections, 2),
        (supervisor.forced_fallbacks, 1),
        (cost.questions, 2),
        (supervisor.vetoes, 3),
        (cost.failed_visits, 0),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_what_a_trial_took_is_added_up(subject, value):
    assert score(subject, a_case(), TRACE).value == pytest.approx(value)


def test_a_visit_that_broke_is_counted_twice_over():
    """It is a visit, and it is a failed one."""
    broken = TRACE.model_copy(update={"visits": (Visit(node="critic", superstep=0, error="boom"),)})

    assert [score(s, a_case(), broken).value for s in (cost.visits, cost.failed_visits)] == [1, 1]


def told_of(subject, *calls):
    return score(subject, a_case(), a_trace(calls=calls))


def test_a_price_nobody_knows_is_not_nothing():
    found = told_of(cost.price_usd, a_call(model="gpt-4o"), a_call(model="a-model-of-next-year"))

    assert found == Skipped(reason="no price is known for a-model-of-next-year")


def test_a_model_of_ones_own_is_free_because_the_table_says_so():
    assert told_of(cost.price_usd, a_call(model="qwen2.5-coder-0.5b-instruct-q4_k_m")).value == 0


@pytest.mark.parametrize("subject", [cost.tokens, cost.price_usd], ids=lambda subject: subject.name)
def test_tokens_nobody_counted_are_not_none(subject):
    found = told_of(subject, a_call(model="gpt-4o"), a_call(model="gpt-4o", prompt=0, completion=0))

    assert found == Skipped(reason="the endpoint of gpt-4o counted no tokens")


def test_a_web_search_has_neither_tokens_nor_a_price():
    search = a_call("web_search", prompt=0, completion=0, model="")

    assert [told_of(subject, search).value for subject in (cost.tokens, cost.price_usd)] == [0, 0]


def test_a_request_of_a_batch_round_was_not_timed():
    found = told_of(cost.latency_s, a_call(latency_ms=500), a_call(latency_ms=0))

    assert found == Skipped(reason="1 of 2 requests were not timed when they were recorded")
