"""Agent cards: what each agent needs and provides, as the registry supervisor reads them (seed 004)."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pydantic import Field

from triage.state import WORKERS, BugTriageState, Value, Worker

MAX_CALLS: Final = 2
"""Calls after which an agent is flagged: one to do its work, one to mend it. The seed gives no number."""
HISTORY_SHOWN: Final = 5


class AgentCard(Value):
    """One agent as the registry describes it. `requires` and `provides` name data of `AVAILABLE`."""

    purpose: str
    requires: tuple[str, ...] = Field(min_length=1)
    provides: tuple[str, ...] = Field(min_length=1)


REGISTRY: Final[Mapping[Worker, AgentCard]] = {
    "investigator": AgentCard(
        purpose="reads the issue, its stack traces and error messages, and forms a hypothesis",
        requires=("issue",),
        provides=("hypothesis", "search_keywords"),
    ),
    "codebase_search": AgentCard(
        purpose="looks in the repository for the file and function at fault",
        requires=("hypothesis",),
        provides=("code_findings",),
    ),
    "web_search": AgentCard(
        purpose="looks outside the repository: cryptic error messages, known problems of third-party libraries",
        requires=("hypothesis",),
        provides=("web_findings",),
    ),
    "critic": AgentCard(
        purpose="checks the findings for mistakes and gaps, once, before the report",
        requires=("hypothesis",),
        provides=("critic_feedback",),
    ),
    "human_input": AgentCard(
        purpose="asks the user who reported the issue what no search can find out; your reasoning is the question",
        requires=("hypothesis",),
        provides=("human_answers",),
    ),
    "writer": AgentCard(
        purpose="writes the triage report, the comment and the ticket",
        requires=("hypothesis",),
        provides=("report",),
    ),
}

AVAILABLE: Final[Mapping[str, Callable[[BugTriageState], bool]]] = {
    "issue": lambda state: bool(state.issue_title or state.issue_body),
    "hypothesis": lambda state: any(
        finding.agent_name == "investigator" and finding.details.strip() for finding in state.findings
    ),
    "search_keywords": lambda state: bool(state.search_keywords),
    "code_findings": lambda state: has_found(state, "codebase_search"),
    "web_findings": lambda state: has_found(state, "web_search"),
    "critic_feedback": lambda state: state.critic_feedback is not None,
    "human_answers": lambda state: any(exchange.answer is not None for exchange in state.human_exchanges),
    "report": lambda state: state.report is not None,
}


def registry_json() -> str:
    """The registry as the prompt shows it."""
    return json.dumps({name: card.model_dump(mode="json") for name, card in REGISTRY.items()}, indent=2)


def available_data(state: BugTriageState) -> list[str]:
    """The data that is there, in the registry's order; fields that only steer the work are none."""
    return [name for name, there in AVAILABLE.items() if there(state)]


def missing_data(state: BugTriageState, agent: Worker) -> list[str]:
    """What `agent` requires and nobody has provided yet."""
    there = available_data(state)
    return [name for name in REGISTRY[agent].requires if name not in there]


def provider_of(data: str) -> Worker | None:
    """The agent that provides `data`; None for what comes with the job."""
    return next((name for name, card in REGISTRY.items() if data in card.provides), None)


def call_counts(state: BugTriageState) -> dict[Worker, int]:
    """How often each agent was called, failed visits included; agents never called are left out."""
    return {name: state.visits.count(name) for name in WORKERS if name in state.visits}


def flagged_agents(state: BugTriageState) -> list[Worker]:
    """The agents called so often that another call would be a loop."""
    return [name for name, calls in call_counts(state).items() if calls >= MAX_CALLS]


def recent_history(state: BugTriageState) -> Sequence[Worker]:
    """The last five agents called, the newest last."""
    return state.visits[-HISTORY_SHOWN:]


def has_found(state: BugTriageState, agent: Worker) -> bool:
    """Whether the agent has a finding."""
    return any(finding.agent_name == agent for finding in state.findings)
