"""Scores of stated confidence."""

import pytest

from evals.scoring.scorer import score
from evals.triage.scorers import report_brier, supervisor_brier
from tests.builders.case import a_case
from tests.builders.trace import a_decision, a_report, a_trace


@pytest.mark.parametrize(("location", "loss"), [("pkg/core.py", 0.09), ("pkg/io.py", 0.49)])
def test_the_supervisors_confidence_is_held_against_the_hit(location, loss):
    trace = a_trace(confidence=0.7, report=a_report(location))

    assert score(supervisor_brier, a_case(), trace).value == pytest.approx(loss)


def test_the_reports_own_confidence_is_scored_apart():
    assert score(report_brier, a_case(), a_trace(report=a_report(confidence=0.9))).value == pytest.approx(0.01)


def test_a_graph_that_never_went_to_the_writer_stated_nothing():
    trace = a_trace("investigator", decisions=[a_decision(chosen="investigator")], no_report=True)

    assert score(supervisor_brier, a_case(), trace).kind == "skipped"
    assert score(report_brier, a_case(), trace).kind == "skipped"


FORECASTS = [(1.0, True, 0.0), (1.0, False, 1.0), (0.7, True, 0.09), (0.3, True, 0.49), (0.5, False, 0.25)]


@pytest.mark.parametrize(("stated", "right", "loss"), FORECASTS)
def test_the_loss_of_one_forecast_is_the_published_one(stated, right, loss):
    """The worked forecasts of the encyclopaedia article on the Brier score."""
    trace = a_trace(confidence=stated, report=a_report("pkg/core.py" if right else "pkg/io.py"))

    assert score(supervisor_brier, a_case(), trace).value == pytest.approx(loss)
