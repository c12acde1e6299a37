"""What an agent is: a name, an input read from the state, a chain, and the way its answer enters the state."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, ConfigDict

from triage.account import Account
from triage.codebase.index import CodebaseIndex
from triage.discussion import shortened
from triage.findings import Answer
from triage.llm import HttpClients, ModelFactory, answering, resilient
from triage.prompts import load_agent_prompt
from triage.settings import Settings
from triage.state import AgentFinding, BugTriageState, Worker

ISSUE_LIMIT: Final = 6_000
"""Characters of an issue that reach a prompt; a pasted log must not push everything else out of the window."""


class AgentInput(BaseModel):
    """What an agent gets to know; JSON-safe, since an agent may run as a service."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    instructions: tuple[str, ...] = ()
    """What the supervisor, or a reviewer behind it, wants done differently this time."""


Input = TypeVar("Input", bound=AgentInput)
Output = TypeVar("Output", bound=Answer)
Schema = TypeVar("Schema", bound=BaseModel)


@dataclass(frozen=True)
class Toolbox:
    """Everything agents share within one run."""

    settings: Settings
    clients: HttpClients
    models: ModelFactory
    index_of: Callable[[str], CodebaseIndex]
    """Repository name -> its index; an unknown repository has an empty one."""
    clock: Callable[[], dt.datetime]
    """What time it is; stands still in a replay."""
    account: Account | None = None
    """Knows whether the endpoint still answers anybody; a replay has no outages, and no account."""
    searches: bool = True
    """Whether there is a web to search; without a key for it nothing of an issue is sent out."""


@dataclass(frozen=True)
class Agent(Generic[Input, Output]):
    """One worker of the team. `finding` and `update` are pure; only `chain` talks to the outside."""

    name: Worker
    input_model: type[Input]
    output_model: type[Output]
    read: Callable[[BugTriageState], Input]
    chain: Callable[[Toolbox], Runnable[Input, Output]]
    finding: Callable[[Output], AgentFinding]
    update: Callable[[BugTriageState, Output], Mapping[str, Any]] = lambda _state, _output: {}
    """State fields the answer sets besides the finding."""
    salvage: Callable[[BugTriageState, Output], Mapping[str, Any]] = lambda _state, _output: {}
    """State fields an answer with an error sets all the same."""


AnyAgent = Agent[Any, Any]


def structured(prompt: str, schema: type[Schema], models: ModelFactory, agent: str) -> Runnable[Any, Schema]:
    """Prompt file `prompt` -> the agent's model -> an instance of `schema`; rate limits are handled."""
    template = prompt_of(prompt)

    def build(model: ChatOpenAI) -> Runnable[Any, Any]:
        return template | answering(model, schema)

    return resilient(build, models, agent)


def prompt_of(name: str) -> ChatPromptTemplate:
    """The chat prompt in `prompts/agents/<name>.md`."""
    system, human = load_agent_prompt(name)
    return ChatPromptTemplate.from_messages([("system", system), ("human", human)])


def instructions_block(instructions: Sequence[str]) -> str:
    """The supervisor's instructions as the end of a prompt; nothing at all where there are none."""
    if not instructions:
        return ""
    return "\n\n## Instructions for this visit\n" + "\n".join(f"- {line}" for line in instructions)


def clipped(text: str, limit: int = ISSUE_LIMIT) -> str:
    """`text`, its middle left out where it is longer than `limit` characters: errors stand first or last."""
    return shortened(text, limit)


def latest_hypothesis(state: BugTriageState) -> str:
    """The investigator's newest hypothesis; the issue's title until there is one."""
    own = [finding for finding in state.findings if finding.agent_name == "investigator"]
    return own[-1].details if own else state.issue_title
