"""The writer turns the findings into three texts at once: the report, a comment for the issue, a ticket.

Where one of them fails, the visit has failed, and what succeeded is kept as a draft.
"""

import json
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal, cast

from langchain_core.runnables import Runnable, RunnableParallel
from pydantic import ConfigDict, Field

from triage.agents.agent import Agent, AgentInput, Toolbox, instructions_block, prompt_of, structured
from triage.findings import Answer, Form, answers_text, findings_text, to_finding
from triage.issue import shortened
from triage.job_budget import over_budget
from triage.llm import ChainStep, resilient
from triage.state import (
    AgentFinding,
    BugTriageState,
    Confidence,
    HumanExchange,
    Severity,
    TicketDraft,
    TriageReport,
    WriterDraft,
)

EFFORTS: Final = ("XS", "S", "M", "L", "XL")
DEFAULT_EFFORT: Final = "M"
EXCERPT: Final = 500
"""Characters of the issue's text that the report's prompt may show: begin and end, where most reports tell the harm."""

Lines = Annotated[list[str], Field(max_length=5)]


class WriterInput(AgentInput):
    """Everything the team has learned."""

    issue_title: str
    issue_body: str = ""
    issue_url: str = ""
    repository: str = ""
    all_findings: tuple[AgentFinding, ...]
    human_exchanges: tuple[HumanExchange, ...] = ()


class ReportDraft(Form):
    """A bug triage report."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    root_cause: str = Field(description="what is wrong and why, in two or three sentences")
    root_cause_location: str | None = Field(description="path::function of the fault; null if not in this repository")
    category: Literal["code", "third_party", "environment", "not_a_bug", "feature", "duplicate", "insufficient"]
    severity: Severity
    affected_files: Lines
    evidence: Lines
    next_steps: Lines
    confidence: Confidence = Field(description="0 to 1: 0.3 a guess, 0.6 likely, 0.9 nearly certain")


class WriterOutput(Answer):
    """The three texts, or with an `error` those that succeeded. Written by code from the three answers; no model fills
    this in."""

    report: TriageReport | None = None
    github_comment_markdown: str = ""
    ticket: TicketDraft | None = None


def read(state: BugTriageState) -> WriterInput:
    """The issue's particulars, all findings and the user's answers."""
    return WriterInput(
        issue_title=state.issue_title,
        issue_body=state.issue_body,
        issue_url=state.issue_url,
        repository=state.repository,
        all_findings=tuple(state.findings),
        human_exchanges=tuple(state.human_exchanges),
        instructions=tuple(state.redirect_instructions),
    )


async def _variables(given: WriterInput) -> dict[str, str]:
    return {
        "issue_title": given.issue_title,
        "issue_excerpt": shortened(given.issue_body, EXCERPT),
        "issue_url": given.issue_url or "no link",
        "repository": given.repository or "unknown",
        "all_findings": findings_text(given.all_findings),
        "human_exchanges": answers_text(given.human_exchanges),
        "instructions": instructions_block(given.instructions),
    }


def chain(toolbox: Toolbox) -> Runnable[WriterInput, WriterOutput]:
    """Three calls side by side, each with its own retries: one rate limit must not repeat the other two."""
    models = toolbox.models
    comment, ticket = prompt_of("writer_comment", toolbox), prompt_of("writer_ticket", toolbox)
    in_json = {"response_format": {"type": "json_object"}}
    texts: Runnable[Any, dict[str, Any]] = RunnableParallel(
        report=_tried(structured("writer_report", ReportDraft, toolbox, "writer")),
        comment=_tried(resilient(lambda model: comment | model, models, "writer"), comment_of),
        ticket=_tried(resilient(lambda model: ticket | model.bind(**in_json), models, "writer"), ticket_of),
    )
    return ChainStep(_variables) | texts | ChainStep(assembled)


def _tried(part: Runnable[Any, Any], read: Callable[[str], object] | None = None) -> Runnable[Any, Any]:
    """The part, or what `read` makes of its text; its failure as its result: a failing neighbour must not throw it
    away."""

    async def attempt(variables: dict[str, str]) -> object:
        try:
            said = await part.ainvoke(variables)
            return read(str(said.text)) if read else said
        except Exception as error:  # noqa: BLE001 - whichever way one text fails, the others are kept
            return error

    return ChainStep(attempt)


async def assembled(parts: dict[str, Any]) -> WriterOutput:
    """The writer's output from three results; a failed one is its exception.

    Raises:
        Exception: as the first part did, where nothing succeeded, where a request was not recorded, or where the job's
            budget did not allow it.
    """
    failed = {name: result for name, result in parts.items() if isinstance(result, Exception)}
    stopping = [error for error in failed.values() if isinstance(error, LookupError) or over_budget(error)]
    if stopping or len(failed) == len(parts):
        raise [*stopping, *failed.values()][0]
    if not failed:
        return merge(**parts)
    texts: dict[str, Any] = {name: None if name in failed else result for name, result in parts.items()}
    return WriterOutput(
        reasoning="Written from the team's findings.",
        summary=f"Written but for the {' and the '.join(failed)}.",
        confidence=0.0,
        error="; ".join(f"no {name} ({_line(error)})" for name, error in failed.items()),
        report=_report(texts["report"]) if texts["report"] else None,
        github_comment_markdown=texts["comment"] or "",
        ticket=texts["ticket"],
    )


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"


def merge(report: ReportDraft, comment: str, ticket: TicketDraft) -> WriterOutput:
    """The writer's output; its confidence is the report's, which thereby is the system's."""
    return WriterOutput(
        reasoning="Written from the team's findings.",
        summary=f"Triage complete: {report.severity} severity, {report.category}.",
        confidence=report.confidence,
        report=_report(report),
        github_comment_markdown=comment,
        ticket=ticket,
    )


def _report(draft: ReportDraft) -> TriageReport:
    return TriageReport.model_validate(draft.model_dump())


def comment_of(text: str) -> str:
    """The comment in an answer.

    Raises:
        ValueError: it is empty.
    """
    if not text.strip():
        raise ValueError("the comment is empty")
    return text.strip()


def ticket_of(text: str) -> TicketDraft:
    """The ticket in a JSON-mode answer. Without an assignee it is nobody's (""), of several the first one's; labels may
    stand in one text, with commas; an effort that is missing or not one of XS S M L XL is M.

    Raises:
        ValueError: not a JSON object, or without a title.
    """
    raw = json.loads(text)
    if not isinstance(raw, dict) or not str(raw.get("title") or "").strip():
        raise ValueError("the ticket has no title")
    effort = str(raw.get("effort") or "").upper()
    return TicketDraft(
        title=str(raw["title"]).strip(),
        labels=_names(raw.get("labels")),
        assignee=next(iter(_names(raw.get("assignee"))), ""),
        effort=cast("Any", effort if effort in EFFORTS else DEFAULT_EFFORT),
    )


def _names(value: object) -> tuple[str, ...]:
    """Names in a list, or in one text with commas; models write both, and what is neither names nobody."""
    given = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(name for one in given if isinstance(one, str) and (name := one.strip()))


def finding(output: WriterOutput) -> AgentFinding:
    """Details repeat the summary; the writer looks at no files."""
    return to_finding("writer", output, output.summary, ())


def update(state: BugTriageState, output: WriterOutput) -> dict[str, Any]:
    """The three texts."""
    texts = {"report": output.report, "comment": output.github_comment_markdown, "ticket": output.ticket}
    return texts if state.draft is None else texts | {"draft": None}


def salvage(state: BugTriageState, output: WriterOutput) -> dict[str, Any]:
    """What succeeded, and of an earlier try what has not succeeded now."""
    before = state.draft or WriterDraft()
    kept = WriterDraft(
        report=output.report or before.report,
        comment=output.github_comment_markdown or before.comment,
        ticket=output.ticket or before.ticket,
    )
    return {"draft": kept}


WRITER: Final = Agent("writer", WriterInput, WriterOutput, read, chain, finding, update, salvage)
