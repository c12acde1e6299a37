"""Answers of agents: shared fields, their JSON schema, and the findings made of them."""

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from triage.state import AgentFinding, Confidence, HumanExchange, Worker


class Form(BaseModel):
    """A model whose JSON schema goes out with requests. The SDK asks for it at each of them, LangChain for each chain,
    and pydantic would write it anew every time, a third of a millisecond; a copy takes a hundredth.
    """

    @classmethod
    def model_json_schema(cls, *arguments: Any, **options: Any) -> dict[str, Any]:  # noqa: ANN401 - pydantic's own
        """As pydantic's; a copy, since the SDK changes what it gets."""
        schema: dict[str, Any] = json.loads(_schema_text(cls, arguments, tuple(options.items())))
        return schema


@lru_cache(256)
def _schema_text(form: type[Form], arguments: tuple[Any, ...], options: tuple[tuple[str, Any], ...]) -> str:
    return json.dumps(super(Form, form).model_json_schema(*arguments, **dict(options)))


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
