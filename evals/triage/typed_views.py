"""Typed views of what the core keeps as mappings: a trial's output and facts, a case's labels."""

from typing import Any

from evals.models.base import Closed
from evals.models.run import CaseInfo
from evals.models.trace import Trace


class Report(Closed):
    """The writer's final answer, as the scorers read it."""

    root_cause: str
    root_cause_location: str | None
    category: str
    severity: str
    affected_files: tuple[str, ...]
    evidence: tuple[str, ...]
    next_steps: tuple[str, ...]
    confidence: float


def report_of(trace: Trace) -> Report | None:
    """The report of a trial; None where none was written, or not all of it is there."""
    told = {name: trace.output[name] for name in Report.model_fields if name in trace.output}
    return Report.model_validate(told) if len(told) == len(Report.model_fields) else None


def comment_of(trace: Trace) -> str:
    """The comment for the issue; empty where none was written."""
    return str(trace.output.get("comment", ""))


def ticket_of(trace: Trace) -> dict[str, Any]:
    """The ticket; empty where none was written."""
    return dict(trace.output.get("ticket", {}))


def repository_files(trace: Trace) -> tuple[str, ...]:
    """The files of the repository that was searched."""
    return trace.facts.get("repository_files", ())


def fix_lines(trace: Trace) -> tuple[str, ...]:
    """Lines of the repository that the case's fix edits, as `path:first-last`, where they are known."""
    return trace.facts.get("fix_lines", ())


class PublishedGold(Closed):
    """Of a case whose source states gold, or whose fix does: the `source`, and what the fix edited, definitions by
    their whole names (`path::Class.method`)."""

    source: str
    files: tuple[str, ...]
    whole_names: tuple[str, ...] = ()


def published_gold(case: CaseInfo) -> PublishedGold | None:
    """The gold of a case whose source states it."""
    told = case.labels
    names = {"source": told.get("published"), "files": told.get("gold", []), "whole_names": told.get("whole_names", [])}
    return PublishedGold.model_validate(names) if names["source"] else None
