"""The investigator reads the issue and says what is probably wrong, where, and what to search for."""

from typing import Annotated, Any, Final

from langchain_core.runnables import Runnable
from pydantic import Field

from triage.agents.agent import ISSUE_LIMIT, Agent, AgentInput, Toolbox, instructions_block, structured
from triage.findings import Answer, answers_text, findings_text, to_finding
from triage.issue import discussion_block, shortened
from triage.llm import ChainStep
from triage.state import AgentFinding, BugTriageState, HumanExchange


class InvestigatorInput(AgentInput):
    """The issue as it was filed, and what has been learned since."""

    issue_title: str
    issue_body: str
    issue_discussion: str = ""
    prior_findings: tuple[AgentFinding, ...] = ()
    human_exchanges: tuple[HumanExchange, ...] = ()


class InvestigatorOutput(Answer):
    """A first hypothesis about the bug."""

    hypothesis: str = Field(description="the most likely root cause")
    affected_areas: Annotated[list[str], Field(max_length=5)] = Field(description="modules, classes or functions")
    keywords_for_search: Annotated[list[str], Field(min_length=1, max_length=8)] = Field(
        description="short terms found in code"
    )
    error_messages: Annotated[list[str], Field(max_length=5)] = Field(description="error lines, verbatim")


def read(state: BugTriageState) -> InvestigatorInput:
    """The investigator's view of the state."""
    return InvestigatorInput(
        issue_title=state.issue_title,
        issue_body=state.issue_body,
        issue_discussion=state.issue_discussion,
        prior_findings=tuple(state.findings),
        human_exchanges=tuple(state.human_exchanges),
        instructions=tuple(state.redirect_instructions),
    )


async def _variables(given: InvestigatorInput) -> dict[str, str]:
    return {
        "issue_title": given.issue_title,
        "issue_body": shortened(given.issue_body, ISSUE_LIMIT) + discussion_block(given.issue_discussion),
        "prior_findings": findings_text(given.prior_findings),
        "human_exchanges": answers_text(given.human_exchanges),
        "instructions": instructions_block(given.instructions),
    }


def chain(toolbox: Toolbox) -> Runnable[InvestigatorInput, InvestigatorOutput]:
    """One structured call."""
    return ChainStep(_variables) | structured("investigator", InvestigatorOutput, toolbox, "investigator")


def finding(output: InvestigatorOutput) -> AgentFinding:
    """Details are the hypothesis; the areas stand in for files, which nobody has looked at yet."""
    return to_finding("investigator", output, output.hypothesis, output.affected_areas)


def update(_state: BugTriageState, output: InvestigatorOutput) -> dict[str, Any]:
    """The keywords feed both searches; the error lines go to the report's data."""
    return {"search_keywords": output.keywords_for_search, "error_messages": output.error_messages}


INVESTIGATOR: Final = Agent("investigator", InvestigatorInput, InvestigatorOutput, read, chain, finding, update)
