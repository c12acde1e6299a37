"""The critic tries to take the findings apart; its verdict opens or shuts the way to the report."""

from typing import Annotated, Any, Final, Literal

from langchain_core.runnables import Runnable
from pydantic import Field

from triage.agents.agent import Agent, AgentInput, Toolbox, instructions_block, latest_hypothesis, structured
from triage.findings import Answer, findings_text, to_finding
from triage.llm import ChainStep
from triage.state import AgentFinding, BugTriageState, CriticVerdict

EVIDENCE_SHOWN: Final = 5
"""Snippets a review reads, the newest ones: what was cited last is what the findings now rest on."""


class CriticInput(AgentInput):
    """What is claimed, and the source it is claimed from."""

    all_findings: tuple[AgentFinding, ...]
    current_hypothesis: str
    codebase_evidence: tuple[str, ...] = ()


class CriticOutput(Answer):
    """An adversarial review of the findings."""

    verdict: Literal["CONFIRMED", "UNCERTAIN", "CHALLENGED"]
    confidence_adjustment: Annotated[float, Field(ge=-1.0, le=1.0)] = Field(
        description="how much the team's confidence should move: negative = down"
    )
    gaps: Annotated[list[str], Field(max_length=5)] = Field(description="what is unproven or missing")
    revised_hypothesis: str | None = Field(description="a better hypothesis, or null")
    ready_for_report: bool = Field(description="true only if the verdict is CONFIRMED")


def read(state: BugTriageState) -> CriticInput:
    """All findings, the newest hypothesis, and every snippet cited so far."""
    return CriticInput(
        all_findings=tuple(state.findings),
        current_hypothesis=latest_hypothesis(state),
        codebase_evidence=tuple(state.codebase_evidence),
        instructions=tuple(state.redirect_instructions),
    )


async def _variables(given: CriticInput) -> dict[str, str]:
    return {
        "current_hypothesis": given.current_hypothesis,
        "all_findings": findings_text(given.all_findings),
        "codebase_evidence": "\n\n".join(given.codebase_evidence[-EVIDENCE_SHOWN:]) or "No source was cited.",
        "instructions": instructions_block(given.instructions),
    }


def chain(toolbox: Toolbox) -> Runnable[CriticInput, CriticOutput]:
    """One structured call."""
    return ChainStep(_variables) | structured("critic", CriticOutput, toolbox, "critic")


def verdict_of(output: CriticOutput, evidence_seen: int) -> CriticVerdict:
    """The review as a binary gate, without another LLM call.

    Approved means confirmed *and* ready. An approval has no gaps left; in a rejection the gaps are also the
    evidence asked for, the review having no field of its own for that. Confidence is 0.5 moved by the
    adjustment, kept within 0..1. `evidence_seen` is a count of findings and human answers.
    """
    approved = output.verdict == "CONFIRMED" and output.ready_for_report
    gaps = () if approved else tuple(output.gaps)
    return CriticVerdict(
        verdict="APPROVED" if approved else "REJECTED",
        review=output.verdict,
        gaps=gaps,
        required_evidence=gaps,
        confidence=max(0.0, min(1.0, 0.5 + output.confidence_adjustment)),
        evidence_seen=evidence_seen,
    )


def finding(output: CriticOutput) -> AgentFinding:
    """Details are the revised hypothesis, else the verdict and its gaps; the gaps are what to look into next."""
    details = output.revised_hypothesis or f"Verdict: {output.verdict}. Gaps: {'; '.join(output.gaps) or 'none'}"
    return to_finding("critic", output, details, output.gaps)


def update(state: BugTriageState, output: CriticOutput) -> dict[str, Any]:
    """The gate. The critic's own finding counts as seen: only what lands after it is new evidence."""
    seen = len(state.findings) + 1 + len(state.human_exchanges)
    return {"critic_feedback": verdict_of(output, seen)}


CRITIC: Final = Agent("critic", CriticInput, CriticOutput, read, chain, finding, update)
