"""Scores of what was written: whether the texts are there, and whether the comment tells what the report found."""

import re
from typing import Final

from evals.models.case import Case
from evals.models.trace import Trace
from evals.scorers.scorer import NotApplicable, scorer

_LONG: Final = 4
"""Letters a word needs to say something: shorter ones are mostly articles and prepositions."""
_LEAST: Final = 20
"""Characters a text needs to say something."""


@scorer("comment.cause", unit="fraction", better="higher")
def comment_cause(case: Case, trace: Trace) -> float:  # noqa: ARG001  every scorer takes the case
    """Share of the words of four letters and more in the report's root cause that the comment has as well, upper and
    lower case alike; 0 without a report, skipped where its root cause has no such word."""
    if trace.report is None:
        return 0.0
    told = _words(trace.report.root_cause)
    if not told:
        raise NotApplicable("the root cause has no word of four letters")
    return len(told & _words(trace.comment)) / len(told)


@scorer("report.complete", unit="fraction", better="higher")
def report_complete(case: Case, trace: Trace) -> float:  # noqa: ARG001  every scorer takes the case
    """Share of five texts that have 20 characters or more: root cause, evidence, next steps, comment and the ticket's
    title; 0 without a report."""
    if trace.report is None:
        return 0.0
    title = str((trace.ticket or {}).get("title", ""))
    texts = (
        trace.report.root_cause,
        " ".join(trace.report.evidence),
        " ".join(trace.report.next_steps),
        trace.comment,
        title,
    )
    return sum(len(text.strip()) >= _LEAST for text in texts) / len(texts)


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.casefold()) if len(word) >= _LONG}
