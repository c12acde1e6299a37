"""The context message: what the supervisor is told about the job, in one fixed order (seed PRD-003-2 §4)."""

from typing import Final

from triage.findings import findings_text
from triage.prompts.load import SupervisorPrompt
from triage.state import MAX_QUESTIONS, AgentFinding, BugTriageState, CriticVerdict, HumanExchange

TITLE_SHOWN: Final = 300
"""Characters of the issue's title that a supervisor reads."""


def supervisor_context(state: BugTriageState, prompt: SupervisorPrompt) -> str:
    """The human message the supervisor reads: sections with a blank line between, the task last."""
    sections = [
        redirects(state.redirect_instructions),
        f"## Issue\n{state.issue_title[:TITLE_SHOWN]}" if prompt.shows_title else "",
        progress(state),
        f"## Findings so far\n{findings(state.findings)}",
        f"## Human exchanges so far\n{exchanges(state.human_exchanges, state.pending_exchange)}",
        f"## Critic's verdict\n{critic(state.critic_feedback)}" if prompt.shows_critic else "",
        prompt.task,
    ]
    return "\n\n".join(section for section in sections if section)


def redirects(instructions: list[str]) -> str:
    """The operator's orders under one header; nothing at all, header included, when there are none."""
    if not instructions:
        return ""
    header = "## Active redirect instructions (follow these above all else)"
    return "\n".join([header, *(f"{n}. {text}" for n, text in enumerate(instructions, 1))])


def progress(state: BugTriageState) -> str:
    """Iterations and questions used, of how many. A question counts once it is answered."""
    answered = sum(exchange.answer is not None for exchange in state.human_exchanges)
    return (
        "## Current state\n"
        f"Iteration: {state.iterations} / {state.max_iterations}\n"
        f"Questions asked so far: {answered} / {MAX_QUESTIONS}"
    )


def findings(found: list[AgentFinding]) -> str:
    """The findings, numbered from 1, a blank line between."""
    return findings_text(found) if found else "No findings yet."


def exchanges(answered: list[HumanExchange], pending: HumanExchange | None) -> str:
    """What the user was asked; the pending question comes last, shown as awaiting its answer."""
    asked = [*answered, *([pending] if pending is not None else [])]
    return "\n\n".join(_exchange(exchange) for exchange in asked) or "None."


def critic(verdict: CriticVerdict | None) -> str:
    """The latest review, with what is missing and what would settle it."""
    if verdict is None:
        return "No review yet."
    return (
        f"{verdict.verdict} (confidence: {verdict.confidence:.0%})\n"
        f"Gaps: {'; '.join(verdict.gaps) or 'none'}\n"
        f"Required evidence: {'; '.join(verdict.required_evidence) or 'none'}"
    )


def _exchange(exchange: HumanExchange) -> str:
    answer = "(awaiting answer)" if exchange.answer is None else exchange.answer
    return f"Q: {exchange.question}\nContext: {exchange.context}\nA: {answer}"
