"""Scores of stated confidence against whether the root cause was right. Both are 0 at best and 1 at worst."""

from evals.models.case import Case
from evals.models.trace import Trace
from evals.scorers.blame import blamed_rightly
from evals.scorers.scorer import NotApplicable, scorer


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
