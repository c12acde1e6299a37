"""The files a finished job leaves: report and comment as Markdown, the ticket as JSON, and the report for programs.

The report begins with all caveats, the comment with the grave ones: others may quote addresses that are nobody's
business where the comment is posted. `ticket.json` has no text of its own; the report becomes the text of the ticket.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from triage.caveats import DEFAULT_FLOOR, caveat_block, caveats, grave_caveats
from triage.private_files import private_folder, write_private
from triage.state import BugTriageState, ConfidenceFloor, TriageReport, WriterDraft


def texts_of(state: BugTriageState) -> WriterDraft:
    """The writer's three texts: the job's, or what a writer that failed had finished."""
    if state.report is not None or state.draft is None:
        return WriterDraft(report=state.report, comment=state.comment, ticket=state.ticket)
    return state.draft


def missing_texts(state: BugTriageState) -> tuple[str, ...]:
    """Which of the three texts there are not."""
    texts = texts_of(state)
    have = {"report": texts.report is not None, "comment": bool(texts.comment), "ticket": texts.ticket is not None}
    return tuple(name for name, there in have.items() if not there)


def write_results(
    folder: Path,
    state: BugTriageState,
    plan: Mapping[str, Any] | None = None,
    floor: ConfidenceFloor = DEFAULT_FLOOR,
) -> list[Path]:
    """Write `report.md`, `report.json`, `comment.md` and `ticket.json` as far as the job has them; returns what was
    written. `plan` is what the plan it began with is for, if it had one; `floor` is how sure a report has to be."""
    have, files = texts_of(state), dict[str, str]()
    if have.report is not None:
        files["report.md"] = report_markdown(state.issue_title, have.report, _limits(state, floor))
        files["report.json"] = _json({**report_data(state, have.report, floor), "plan": plan})
    if have.comment:
        files["comment.md"] = with_caveats(have.comment.strip(), grave_caveats(state, floor)) + "\n"
    if have.ticket is not None:
        files["ticket.json"] = _json(have.ticket.model_dump(mode="json"))
    private_folder(folder)
    for name, text in files.items():
        write_private(folder / name, text)
    return [folder / name for name in files]


def with_caveats(text: str, said: Iterable[str]) -> str:
    """`text` below the caveats it does not hold yet."""
    block = caveat_block(line for line in said if " ".join(line.split()) not in text)
    return f"{block}\n\n{text}" if block else text


def report_data(state: BugTriageState, report: TriageReport, floor: ConfidenceFloor = DEFAULT_FLOOR) -> dict[str, Any]:
    """The report with what led to it: caveats, the critic's verdict, the supervisor's confidence, findings, visits,
    failures, vetoes, questions."""
    job = state.model_dump(
        mode="json",
        include={"job_id", "issue_title", "issue_url", "repository", "visits", "agent_errors", "supervisor_errors"}
        | {"vetoes", "human_exchanges", "retry_reasons", "decision_events", "redirect_instructions"}
        | {"critic_feedback", "supervisor_confidence", "findings", "error_messages"},
    )
    said = [{"text": caveat.text, "grave": caveat.grave} for caveat in caveats(state, floor)]
    return {"report": report.model_dump(mode="json"), "caveats": said, "missing": missing_texts(state), **job}


def report_markdown(title: str, report: TriageReport, limits: Iterable[str] = ()) -> str:
    """The report as a page: its limits, if any; then what, where, how bad, and what next."""
    facts = [
        f"- **Root cause:** {report.root_cause}",
        f"- **Location:** {report.root_cause_location or 'not in this repository'}",
        f"- **Category:** {report.category}",
        f"- **Severity:** {report.severity}",
        f"- **Confidence:** {report.confidence:.2f}",
    ]
    block = caveat_block(limits)
    parts = [
        f"# {title}",
        *([block] if block else []),
        "\n".join(facts),
        _section("Affected files", report.affected_files),
        _section("Evidence", report.evidence),
        _section("Next steps", report.next_steps),
    ]
    return "\n\n".join(parts) + "\n"


def _limits(state: BugTriageState, floor: ConfidenceFloor) -> list[str]:
    missing = [f"The writer brought no {name}." for name in missing_texts(state)]
    return [*(caveat.text for caveat in caveats(state, floor)), *missing]


def _section(heading: str, lines: Iterable[str]) -> str:
    return "\n".join([f"## {heading}", "", *([f"- {line}" for line in lines] or ["None."])])


def _json(data: object) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
