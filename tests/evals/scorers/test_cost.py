"""Scores of cost."""

import pytest

from evals.models.trace import Visit
from evals.scorers import cost
from evals.scorers.scorer import score
from tests.builders.case import a_case
from tests.builders.trace import a_call, a_decision, a_trace, a_veto, an_exchange

TRACE = a_trace(
    calls=[a_call(prompt=100, completion=20, latency_ms=500), a_call(prompt=10, completion=1, latency_ms=250)],
    decisions=[
        a_decision(0, vetoes=[a_veto(), a_veto("iteration_limit")], corrections=1),
        a_decision(1, forced_fallback=True, corrections=1, vetoes=[a_veto()]),
    ],
    exchanges=[an_exchange(), an_exchange(topic="version")],
)


@pytest.mark.parametrize(
    ("subject", "value"),
    [
        (cost.visits, 4),
        (cost.llm_calls, 2),
        (cost.tokens, 131),
        (cost.latency_s, 0.75),
        (cost.corrections, 2),
        (cost.forced_fallbacks, 1),
        (cost.questions, 2),
        (cost.vetoes, 3),
        (cost.failed_visits, 0),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_what_a_trial_took_is_added_up(subject, value):
    assert score(subject, a_case(), TRACE).value == value


def test_a_web_search_is_no_llm_call():
    search = a_call("web_search", prompt=0, completion=0).model_copy(update={"model": ""})

    assert score(cost.llm_calls, a_case(), a_trace(calls=[search])).value == 0


def test_a_visit_that_broke_is_counted_twice_over():
    """It is a visit, and it is a failed one."""
    broken = TRACE.model_copy(update={"visits": (Visit(node="critic", superstep=0, error="boom"),)})

    assert [score(s, a_case(), broken).value for s in (cost.visits, cost.failed_visits)] == [1, 1]
