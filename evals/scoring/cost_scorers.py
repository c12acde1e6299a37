"""Scorers of cost: steps, calls, tokens, price and recorded time."""

from functools import cache
from typing import Final

from evals.models.case import Case
from evals.models.trace import Call, Trace
from evals.prices import PriceTable, load_prices
from evals.scoring.scorer import NotApplicable, scorer

# ruff: noqa: ARG001  every scorer takes the case; what a trial costs does not depend on its labels


@scorer("cost.visits", unit="count", better="lower")
def visits(case: Case, trace: Trace) -> float:
    """Steps, failed ones and automatic reviews included."""
    return len(trace.visits)


@scorer("cost.llm_calls", unit="count", better="lower")
def llm_calls(case: Case, trace: Trace) -> float:
    """Requests a model answered, retries included, web searches left out."""
    return sum(1 for call in trace.calls if call.model)


@scorer("cost.tokens", unit="tokens", better="lower")
def tokens(case: Case, trace: Trace) -> float:
    """Prompt and completion tokens of all requests, as the endpoint counted them; skipped where it did not count."""
    return sum(_counted(call) for call in _answered(trace))


@scorer("cost.price_usd", unit="USD", better="lower")
def price_usd(case: Case, trace: Trace) -> float:
    """What the tokens cost at the dated list prices of `evals/prices.yaml`; skipped where a model that answered is not
    in it, or where tokens were not counted."""
    return sum(_price(call) for call in _answered(trace))


@scorer("cost.latency_s", unit="seconds", better="lower")
def latency_s(case: Case, trace: Trace) -> float:
    """Time all requests took when they were recorded, added up as if none had run beside another; skipped where one was
    not timed, as in a batch round."""
    untimed = sum(call.latency_ms == 0 for call in trace.calls)
    if untimed:
        raise NotApplicable(f"{untimed} of {len(trace.calls)} requests were not timed when they were recorded")
    return sum(call.latency_ms for call in trace.calls) / 1000


@scorer("cost.questions", unit="count", better="lower")
def questions(case: Case, trace: Trace) -> float:
    """Questions the user was asked, answered or not."""
    return len(trace.exchanges)


@scorer("cost.failed_visits", unit="count", better="lower")
def failed_visits(case: Case, trace: Trace) -> float:
    """Steps that ended in an error."""
    return sum(visit.error is not None for visit in trace.visits)


SCORERS: Final = (visits, llm_calls, tokens, price_usd, latency_s, questions, failed_visits)


def _answered(trace: Trace) -> list[Call]:
    """The requests a model answered."""
    return [call for call in trace.calls if call.model]


def _counted(call: Call) -> int:
    tokens = call.prompt_tokens + call.completion_tokens
    if not tokens:
        raise NotApplicable(f"the endpoint of {call.model} counted no tokens")
    return tokens


def _price(call: Call) -> float:
    _counted(call)
    price = _prices().cost(call.model, call.prompt_tokens, call.completion_tokens)
    if price is None:
        raise NotApplicable(f"no price is known for {call.model}")
    return price


@cache
def _prices() -> PriceTable:
    return load_prices()
