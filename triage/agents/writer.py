"""The writer turns the findings into three texts at once: the report, a comment for the issue, a ticket."""

import json
from typing import Annotated, Any, Final, Literal

from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, ConfigDict, Field

from triage.agents.agent import Agent, AgentInput, Toolbox, instructions_block, prompt_of, structured
from triage.findings import Answer, answers_text, findings_text, to_finding
from triage.llm import resilient
from triage.state import (
    AgentFinding,
    BugTriageState,
    Confidence,
    HumanExchange,
    Severity,
    TicketDraft,
    TriageReport,
)

EFFORTS: Final = ("XS", "S", "M", "L", "XL")
DEFAULT_EFFORT: Final = "M"

Lines = Annotated[list[str], Field(max_length=5)]


class WriterInput(AgentInput):
    """Everything the team has learned."""

    issue_title: str
    issue_url: str = ""
    repository: str = ""
    all_findings: tuple[AgentFinding, ...]
    human_exchanges: tuple[HumanExchange, ...] = ()


class ReportDraft(BaseModel):
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
    """The three texts. Written by code from the three answers; no model fills this in."""

    report: TriageReport
    github_comment_markdown: str
    ticket: TicketDraft


def read(state: BugTriageState) -> WriterInput:
    """The issue's particulars, all findings and the user's answers."""
    return WriterInput(
        issue_title=state.issue_title,
        issue_url=state.issue_url,
        repository=state.repository,
        all_findings=tuple(state.findings),
        human_exchanges=tuple(state.human_exchanges),
        instructions=tuple(state.redirect_instructions),
    )


async def _variables(given: WriterInput) -> dict[str, str]:
    return {
        "issue_title": given.issue_title,
        "issue_url": given.issue_url or "no link",
        "repository": given.repository or "unknown",
        "all_findings": findings_text(given.all_findings),
        "human_exchanges": answers_text(given.human_exchanges),
        "instructions": instructions_block(given.instructions),
    }


def chain(toolbox: Toolbox) -> Runnable[WriterInput, WriterOutput]:
    """Three calls side by side, each with its own retries: one rate limit must not repeat the other two."""
    models = toolbox.models
    comment, ticket = prompt_of("writer_comment"), prompt_of("writer_ticket")
    texts: Runnable[Any, dict[str, Any]] = RunnableParallel(
        report=structured("writer_report", ReportDraft, models, "writer"),
        comment=resilient(lambda model: comment | model | StrOutputParser(), models, "writer"),
        ticket=resilient(lambda model: ticket | _in_json_mode(model) | StrOutputParser(), models, "writer"),
    )

    async def merged(parts: dict[str, Any]) -> WriterOutput:
        return merge(parts["report"], parts["comment"], parts["ticket"])

    return RunnableLambda(_variables) | texts | RunnableLambda(merged)


def _in_json_mode(model: ChatOpenAI) -> Runnable[Any, Any]:
    return model.bind(response_format={"type": "json_object"})


def merge(report: ReportDraft, comment: str, ticket: str) -> WriterOutput:
    """The writer's output; its confidence is the report's, which thereby is the system's.

    Raises:
        ValueError: the comment is empty, or the ticket is not a JSON object with a title.
    """
    if not comment.strip():
        raise ValueError("the comment is empty")
    return WriterOutput(
        reasoning="Written from the team's findings.",
        summary=f"Triage complete: {report.severity} severity, {report.category}.",
        confidence=report.confidence,
        report=TriageReport.model_validate(report.model_dump()),
        github_comment_markdown=comment.strip(),
        ticket=ticket_of(ticket),
    )


def ticket_of(text: str) -> TicketDraft:
    """The ticket in a JSON-mode answer. Without an assignee it is nobody's (""); an effort that is missing or
    not one of XS S M L XL is M.

    Raises:
        ValueError: not a JSON object, or without a title.
    """
    raw = json.loads(text)
    if not isinstance(raw, dict) or not str(raw.get("title") or "").strip():
        raise ValueError("the ticket has no title")
    effort = str(raw.get("effort") or "").upper()
    return TicketDraft.model_validate(
        {
            "title": str(raw["title"]).strip(),
            "labels": raw.get("labels") or (),
            "assignee": raw.get("assignee") or "",
            "effort": effort if effort in EFFORTS else DEFAULT_EFFORT,
        }
    )


def finding(output: WriterOutput) -> AgentFinding:
    """Details repeat the summary; the writer looks at no files."""
    return to_finding("writer", output, output.summary, ())


def update(_state: BugTriageState, output: WriterOutput) -> dict[str, Any]:
    """The three texts."""
    return {"report": output.report, "comment": output.github_comment_markdown, "ticket": output.ticket}


WRITER: Final = Agent("writer", WriterInput, WriterOutput, read, chain, finding, update)
