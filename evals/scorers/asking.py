"""Scores of asking the user: when it was needed, when it was not, and whether the right thing was asked."""

from evals.models.case import Case
from evals.models.trace import Trace
from evals.scorers.scorer import NotApplicable, scorer


def _asked(trace: Trace) -> bool:
    return bool(trace.exchanges) or "human_input" in trace.route


@scorer("ask.required", unit="fraction", better="higher")
def ask_required(case: Case, trace: Trace) -> float:
    """Ask-recall: 1 if the user was asked where a question is required; skipped where it is not."""
    if case.labels.question.policy != "required":
        raise NotApplicable("no question is required")
    return float(_asked(trace))


@scorer("ask.false", unit="fraction", better="lower")
def ask_false(case: Case, trace: Trace) -> float:
    """False-ask: 1 if the user was asked where questions are forbidden; skipped where they are not."""
    if case.labels.question.policy != "forbidden":
        raise NotApplicable("questions are not forbidden")
    return float(_asked(trace))


@scorer("ask.topics", unit="fraction", better="higher")
def ask_topics(case: Case, trace: Trace) -> float:
    """Share of the key topics that the questions touched; skipped where questions are forbidden, where no topic is
    labelled, and where asking is optional and nothing was asked."""
    policy = case.labels.question.policy
    topics = {answer.topic for answer in case.labels.question.answers}
    if policy == "forbidden" or not topics:
        raise NotApplicable("questions are forbidden" if policy == "forbidden" else "no topic is labelled")
    if policy == "allowed" and not _asked(trace):
        raise NotApplicable("asking is optional and nothing was asked")
    return len(topics & {exchange.topic for exchange in trace.exchanges}) / len(topics)
