"""Scores of the severity."""

import pytest

from evals.scoring.scorer import score
from evals.triage.scorers import severity_exact, severity_within_one, under_triage
from tests.builders.case import a_case
from tests.builders.trace import a_report, a_trace


@pytest.mark.parametrize(
    ("named", "exact", "near", "under"),
    [("CRITICAL", 0, 1, 0), ("HIGH", 1, 1, 0), ("MEDIUM", 0, 1, 1), ("LOW", 0, 0, 1)],
)
def test_a_high_severity_named_otherwise(named, exact, near, under):
    trace = a_trace(report=a_report(severity=named))

    values = [
        score(s, a_case(severity="HIGH"), trace).value for s in (severity_exact, severity_within_one, under_triage)
    ]

    assert values == [exact, near, under]


def test_a_severity_off_the_scale_fails_loudly():
    assert score(severity_exact, a_case(), a_trace(report=a_report(severity="MEH"))).kind == "failed"
