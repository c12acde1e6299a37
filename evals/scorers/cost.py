"""Scores of cost: what the trial took, in visits, calls, tokens and seconds as they were when it was recorded."""

from evals.models.case import Case
from evals.models.trace import Trace
from evals.scorers.scorer import scorer

# ruff: noqa: ARG001  every scorer takes the case; what a trial costs does not depend on its labels


@scorer("cost.visits", unit="count", better="lower")
def visits(case: Case, trace: Trace) -> float:
    """Worker visits, failed ones included, the supervisor left out."""
    return len(trace.visits)


@scorer("cost.llm_calls", unit="count", better="lower")
def llm_calls(case: Case, trace: Trace) -> float:
    """Requests a model answered, retries included, web searches left out."""
    return sum(1 for call in trace.calls if call.model)


@scorer("cost.tokens", unit="tokens", better="lower")
def tokens(case: Case, trace: Trace) -> float:
    """Prompt and completion tokens of all requests, as the endpoint counted them."""
    return sum(call.prompt_tokens + call.completion_tokens for call in trace.calls)


@scorer("cost.latency_s", unit="seconds", better="lower")
def latency_s(case: Case, trace: Trace) -> float:
    """Time all requests took when they were recorded, added up as if none had run beside another."""
    return sum(call.latency_ms for call in trace.calls) / 1000


@scorer("cost.corrections", unit="count", better="lower")
def corrections(case: Case, trace: Trace) -> float:
    """Supervisor answers that had to be asked for again because they were invalid."""
    return sum(decision.corrections for decision in trace.decisions)


@scorer("cost.forced_fallbacks", unit="count", better="lower")
def forced_fallbacks(case: Case, trace: Trace) -> float:
    """Decisions forced to the writer because the supervisor's answer stayed invalid."""
    return sum(decision.forced_fallback for decision in trace.decisions)


@scorer("cost.questions", unit="count", better="lower")
def questions(case: Case, trace: Trace) -> float:
    """Questions the user was asked, answered or not."""
    return len(trace.exchanges)


@scorer("cost.vetoes", unit="count", better="lower")
def vetoes(case: Case, trace: Trace) -> float:
    """Times a guard overruled the supervisor."""
    return sum(len(decision.vetoes) for decision in trace.decisions)


@scorer("cost.failed_visits", unit="count", better="lower")
def failed_visits(case: Case, trace: Trace) -> float:
    """Worker visits that ended in an error instead of a finding."""
    return sum(visit.error is not None for visit in trace.visits)
