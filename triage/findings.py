"""From what an agent says to what the state keeps: the fields all agents share, and the finding made of them."""

from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field

from triage.form import Form
from triage.state import AgentFinding, Confidence, HumanExchange, Worker

NO_FINDINGS = "No findings yet."
NOT_IDENTIFIED = "not identified"
"""A codebase search's details where it names no place."""
NONE_IDENTIFIED = "none identified"
"""A web search's details where it knows of no cause outside the repository."""


def none_if_blank(value: object) -> object:
    """Models write "", "null" or "none" where they mean nothing; only a real text is an error."""
    if isinstance(value, str) and value.strip().lower() in {"", "null", "none"}:
        return None
    return value


class Answer(Form):
    """What every agent answers. The agent's name is not asked for: the code knows whom it called."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reasoning: str = Field(description="the thoughts that lead to the answer, in two or three sentences")
    summary: str = Field(description="the answer in one sentence")
    confidence: Confidence = Field(description="0 to 1: 0.3 a guess, 0.6 likely, 0.9 nearly certain")
    error: Annotated[str | None, BeforeValidator(none_if_blank)] = Field(
        default=None, description="null; a text only if the task could not be done at all"
    )


def to_finding(name: Worker, answer: Answer, details: str, relevant_files: Iterable[str]) -> AgentFinding:
    """The finding the state keeps; `details` and `relevant_files` come from the field each agent has for them."""
    return AgentFinding(
        agent_name=name,
        summary=answer.summary,
        confidence=answer.confidence,
        details=details,
        relevant_files=tuple(relevant_files),
    )


def asks(gaps: Iterable[str]) -> list[str]:
    """What a review found missing, as instructions to whoever looks for it: one line for each gap."""
    return [f"A reviewer asks for: {gap}" for gap in gaps]


def findings_text(findings: Sequence[AgentFinding]) -> str:
    """Findings as a prompt shows them to a worker: numbered, in order, a blank line between."""
    return "\n\n".join(_one(number, finding) for number, finding in enumerate(findings, 1)) or NO_FINDINGS


def _one(number: int, finding: AgentFinding) -> str:
    return (
        f"[{number}] {finding.agent_name} (confidence: {finding.confidence:.0%})\n"
        f"Summary: {finding.summary}\n"
        f"Details: {finding.details}\n"
        f"Relevant files: {', '.join(finding.relevant_files) or 'none'}"
    )


def answers_text(exchanges: Sequence[HumanExchange]) -> str:
    """What the user was asked and answered, as a prompt shows it; questions still open are left out."""
    answered = (exchange for exchange in exchanges if exchange.answer is not None)
    return "\n\n".join(f"Q: {exchange.question}\nA: {exchange.answer}" for exchange in answered) or "None."
