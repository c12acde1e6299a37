"""What the judge is shown of a trial: its fields, and its text in a prompt."""

from collections.abc import Iterable
from typing import Annotated, Final, Literal

from pydantic import Field

from evals.llm_judge.judge_questions import part
from evals.models.base import Closed
from evals.models.case import Case
from evals.models.trace import Trace
from evals.triage.typed_views import comment_of, report_of, ticket_of
from triage.issue import shortened

_WRITER = "writer"  # its finding says that it has written, which is in front of the judge anyway


class JudgedFinding(Closed):
    """What one visit learned, as the judge is shown it."""

    agent: str
    summary: str
    details: str
    confidence: Annotated[float, Field(ge=0, le=1)]
    files: tuple[str, ...] = ()


class Written(Closed):
    """What people read of a trial: the report's fields, the comment, the ticket's title and labels."""

    root_cause: str
    location: str | None
    category: str
    severity: Literal["CRITICAL", "HIGH", "MEDIUM", "LOW"]
    files: tuple[str, ...]
    evidence: tuple[str, ...]
    next_steps: tuple[str, ...]
    confidence: Annotated[float, Field(ge=0, le=1)]
    comment: str
    ticket: str
    labels: tuple[str, ...] = ()


class Dossier(Closed):
    """All a judge is shown of a trial: issue, what the team learned, what it wrote, and the label's one sentence."""

    title: str
    body: str
    findings: tuple[JudgedFinding, ...]
    answers: tuple[tuple[str, str], ...]
    """Questions to the user, each with what was answered."""
    written: Written
    cause: str


def dossier_of(case: Case, trace: Trace) -> Dossier | None:
    """The dossier of an exact trial; None where it wrote no report, or is not wholly on tape."""
    report, ticket = report_of(trace), ticket_of(trace)
    if trace.provenance.label != "exact" or report is None:
        return None
    return Dossier(
        title=case.title,
        body=case.body,
        findings=tuple(
            JudgedFinding(
                agent=found.agent_name,
                summary=found.summary,
                details=found.details,
                confidence=found.confidence,
                files=found.relevant_files,
            )
            for visit in trace.visits
            for found in visit.findings
            if found.agent_name != _WRITER
        ),
        answers=tuple((exchange.question, exchange.answer) for exchange in trace.exchanges),
        written=Written.model_validate(
            {
                "root_cause": report.root_cause,
                "location": report.root_cause_location,
                "category": report.category,
                "severity": report.severity,
                "files": report.affected_files,
                "evidence": report.evidence,
                "next_steps": report.next_steps,
                "confidence": report.confidence,
                "comment": comment_of(trace),
                "ticket": str(ticket.get("title") or ""),
                "labels": tuple(map(str, ticket.get("labels") or ())),
            }
        ),
        cause=case.labels.root_cause,
    )


ISSUE_LIMIT: Final = 4_000
"""Characters of an issue's body that are shown: the cause is in the label, and a pasted log would only cost tokens."""


def sections(dossier: Dossier) -> dict[str, str]:
    """The parts of the rubric's prompt, by the placeholders of its second half."""
    written = dossier.written
    return {
        "issue": issue(dossier),
        "findings": part("The team's findings", "\n".join(_findings(dossier)) or "None."),
        "answers": part("Questions the user has answered", "\n".join(_answers(dossier)) or "None."),
        "report": part("Report", _report(written)),
        "comment": part("Comment", written.comment),
        "ticket": part("Ticket", _ticket(written)),
        "cause": cause(dossier),
        "words": str(len(written.comment.split())),
    }


def issue(dossier: Dossier) -> str:
    """The issue as it was opened, its middle left out where it is very long."""
    return part("Issue", f"{dossier.title}\n\n{shortened(dossier.body, ISSUE_LIMIT)}")


def cause(dossier: Dossier) -> str:
    """The label's one sentence."""
    return part("The cause as it turned out", dossier.cause)


def write_up(name: str, written: Written) -> str:
    """All that was written, as one part."""
    return part(name, f"Report\n{_report(written)}\n\nTicket\n{_ticket(written)}\n\nComment\n{written.comment}")


def _findings(dossier: Dossier) -> Iterable[str]:
    for found in dossier.findings:
        files = f" ({', '.join(found.files)})" if found.files else ""
        yield f"- {found.agent} ({found.confidence:.0%} sure): {found.summary}\n  {found.details}{files}"


def _answers(dossier: Dossier) -> Iterable[str]:
    for question, answer in dossier.answers:
        yield f"- asked: {question}\n  answered: {answer}"


def _report(written: Written) -> str:
    return "\n".join(
        (
            f"root_cause: {written.root_cause}",
            f"root_cause_location: {written.location or 'not in this repository'}",
            f"category: {written.category}",
            f"severity: {written.severity}",
            f"affected_files: {', '.join(written.files) or 'none'}",
            "evidence:",
            *(f"- {line}" for line in written.evidence),
            "next_steps:",
            *(f"- {line}" for line in written.next_steps),
            f"confidence: {written.confidence:g}",
        )
    )


def _ticket(written: Written) -> str:
    return f"title: {written.ticket}\nlabels: {', '.join(written.labels) or 'none'}"
