"""Scorers of the supervisor: questions to the user, stated confidence, invalid answers and vetoes of guards."""

from evals.models.case import Case
from evals.models.trace import Trace
from evals.scoring.scorer import NotApplicable, scorer
from evals.triage.root_cause_scorers import blamed_rightly

# ruff: noqa: ARG001  every scorer takes the case; what the supervisor did does not always depend on its labels


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


@scorer("confidence.brier", unit="fraction", better="lower")
def supervisor_brier(case: Case, trace: Trace) -> float:
    """(c - root_cause.hit)², c being the supervisor's confidence at the decision that sent the graph to the writer;
    skipped if none did."""
    if trace.confidence_before_writer is None:
        raise NotApplicable("the graph never went to the writer")
    return (trace.confidence_before_writer - blamed_rightly(case, trace)) ** 2


@scorer("confidence.report", unit="fraction", better="lower")
def report_brier(case: Case, trace: Trace) -> float:
    """(c - root_cause.hit)², c being the confidence that the report states; skipped without a report."""
    if trace.report is None:
        raise NotApplicable("there is no report")
    return (trace.report.confidence - blamed_rightly(case, trace)) ** 2


@scorer("cost.corrections", unit="count", better="lower")
def corrections(case: Case, trace: Trace) -> float:
    """Supervisor answers that had to be asked for again because they were invalid."""
    return sum(decision.corrections for decision in trace.decisions)


@scorer("cost.forced_fallbacks", unit="count", better="lower")
def forced_fallbacks(case: Case, trace: Trace) -> float:
    """Decisions forced to the writer because the supervisor's answer stayed invalid."""
    return sum(decision.forced_fallback for decision in trace.decisions)


@scorer("cost.vetoes", unit="count", better="lower")
def vetoes(case: Case, trace: Trace) -> float:
    """Times a guard overruled the supervisor."""
    return sum(len(decision.vetoes) for decision in trace.decisions)
