"""Scores of what was written."""

import pytest

from evals.scoring.scorer import score
from evals.triage.scorers import comment_cause, report_complete
from tests.builders.case import a_case
from tests.builders.trace import a_report, a_trace

CAUSE = a_report(root_cause="The INDEX is off by one in the worker.")  # words of four letters: index, worker
WHOLE = a_report(evidence=("The last item is lost in core.py.",), next_steps=("Read up to the end of it.",))


@pytest.mark.parametrize(
    ("comment", "value"),
    [("An index of the Worker is one too low.", 1.0), ("It is the index.", 0.5), ("ok", 0.0), ("", 0.0)],
)
def test_a_comment_tells_the_cause_as_far_as_it_has_its_words(comment, value):
    assert score(comment_cause, a_case(), a_trace(report=CAUSE, comment=comment)).value == value


def test_a_cause_without_a_long_word_asks_nothing_of_the_comment():
    trace = a_trace(report=a_report(root_cause="x < 1"), comment="ok")

    assert score(comment_cause, a_case(), trace).kind == "skipped"


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ({"comment": "The last item is lost.", "ticket": {"title": "Keep the last item of a page"}}, 1.0),
        ({"comment": "ok", "ticket": {"title": "Keep the last item of a page"}}, 0.8),
        ({"comment": " " * 30, "ticket": None}, 0.6),
    ],
)
def test_a_report_is_complete_as_far_as_its_texts_are_there(fields, value):
    assert score(report_complete, a_case(), a_trace(report=WHOLE, **fields)).value == pytest.approx(value)
