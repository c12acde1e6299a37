"""The files a finished job leaves: the report and the comment as Markdown, the ticket as JSON."""

import json
from collections.abc import Iterable
from pathlib import Path

from triage.state import BugTriageState, TriageReport


def write_results(folder: Path, state: BugTriageState) -> list[Path]:
    """Write `report.md`, `comment.md` and `ticket.json` as far as the job has them; returns what was written."""
    texts: dict[str, str] = {}
    if state.report is not None:
        texts["report.md"] = report_markdown(state.issue_title, state.report)
    if state.comment:
        texts["comment.md"] = state.comment.strip() + "\n"
    if state.ticket is not None:
        texts["ticket.json"] = json.dumps(state.ticket.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


def report_markdown(title: str, report: TriageReport) -> str:
    """The report as a page: what, where, how bad, and what next."""
    facts = [
        f"- **Root cause:** {report.root_cause}",
        f"- **Location:** {report.root_cause_location or 'not in this repository'}",
        f"- **Category:** {report.category}",
        f"- **Severity:** {report.severity}",
        f"- **Confidence:** {report.confidence:.2f}",
    ]
    parts = [
        f"# {title}",
        "\n".join(facts),
        _section("Affected files", report.affected_files),
        _section("Evidence", report.evidence),
        _section("Next steps", report.next_steps),
    ]
    return "\n\n".join(parts) + "\n"


def _section(heading: str, lines: Iterable[str]) -> str:
    return "\n".join([f"## {heading}", "", *([f"- {line}" for line in lines] or ["None."])])
