"""Scores of the severity: right, nearly right, or too low, which is the dangerous mistake."""

from evals.models.case import Case
from evals.models.trace import Trace
from evals.scorers.scorer import scorer
from evals.stats.agreement import SEVERITIES


def _steps_too_high(case: Case, trace: Trace) -> int | None:
    """Named minus labelled severity in steps of the scale; None without a report."""
    if trace.report is None:
        return None
    return SEVERITIES.index(trace.report.severity) - SEVERITIES.index(case.labels.severity)


@scorer("severity.exact", unit="fraction", better="higher")
def severity_exact(case: Case, trace: Trace) -> float:
    """1 if the report's severity is the labelled one; 0 without a report."""
    return float(_steps_too_high(case, trace) == 0)


@scorer("severity.within_one", unit="fraction", better="higher")
def severity_within_one(case: Case, trace: Trace) -> float:
    """1 if the report's severity is at most one step (LOW, MEDIUM, HIGH, CRITICAL) off; 0 without a report."""
    return float(_steps_too_high(case, trace) in {-1, 0, 1})


@scorer("severity.under_triage", unit="fraction", better="lower")
def under_triage(case: Case, trace: Trace) -> float:
    """1 if the report's severity is below the labelled one, or if there is no report."""
    steps = _steps_too_high(case, trace)
    return float(steps is None or steps < 0)
