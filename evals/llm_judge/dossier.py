"""What a judge is shown of a trial: a pure function of its outcome and the label's one sentence."""

from evals.models.case import Case
from evals.models.judge import Dossier, Finding, Written
from evals.models.trace import Trace

_WRITER = "writer"  # its finding says that it has written, which is in front of the judge anyway


def dossier_of(case: Case, trace: Trace) -> Dossier | None:
    """The dossier of an exact trial; None where it wrote no report, or is not wholly on tape."""
    if trace.provenance.label != "exact" or trace.report is None:
        return None
    report, ticket = trace.report, trace.ticket or {}
    return Dossier(
        title=case.title,
        body=case.body,
        findings=tuple(
            Finding(
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
                "comment": trace.comment,
                "ticket": str(ticket.get("title") or ""),
                "labels": tuple(map(str, ticket.get("labels") or ())),
            }
        ),
        cause=case.labels.root_cause,
    )
