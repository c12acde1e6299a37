"""The interface of an agent, its visit as a graph node, and agents over HTTP."""

import datetime as dt
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

import httpx
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable
from langchain_openai import ChatOpenAI
from langgraph.errors import GraphBubbleUp
from pydantic import BaseModel, ConfigDict, ValidationError

from evals.shared.secrets.rule import masked
from triage.codebase.index import CodebaseIndex
from triage.errors import ConfigurationError
from triage.findings import NONE_IDENTIFIED, NOT_IDENTIFIED, Answer, none_if_blank
from triage.job_model_requests import Account, no_completion
from triage.llm import ChainStep, HttpClients, ModelFactory, answering, resilient
from triage.prompts.load import load_agent_prompt
from triage.settings import Settings
from triage.state import AgentError, AgentFinding, BugTriageState, Worker
from triage.terminal_screen import agent_failed

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
    prompts: Mapping[str, str] = field(default_factory=dict)
    """Prompt -> the text of another file in the place of its own."""


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


def structured(prompt: str, schema: type[Schema], toolbox: Toolbox, agent: str) -> Runnable[Any, Schema]:
    """Prompt file `prompt` -> the agent's model -> an instance of `schema`; rate limits are handled."""
    template = prompt_of(prompt, toolbox)

    def build(model: ChatOpenAI) -> Runnable[Any, Any]:
        return template | answering(model, schema)

    return resilient(build, toolbox.models, agent)


def prompt_of(name: str, toolbox: Toolbox | None = None) -> ChatPromptTemplate:
    """The chat prompt in `prompts/agents/<name>.md`, or the one that the toolbox has in its place."""
    system, human = load_agent_prompt(name, toolbox.prompts.get(name) if toolbox else None)
    return ChatPromptTemplate.from_messages([("system", system), ("human", human)])


def instructions_block(instructions: Sequence[str]) -> str:
    """The supervisor's instructions as the end of a prompt; nothing at all where there are none."""
    if not instructions:
        return ""
    return "\n\n## Instructions for this visit\n" + "\n".join(f"- {line}" for line in instructions)


def latest_hypothesis(state: BugTriageState) -> str:
    """The investigator's newest hypothesis; the issue's title until there is one."""
    own = [finding for finding in state.findings if finding.agent_name == "investigator"]
    return own[-1].details if own else state.issue_title


def remote_chain(agent: AnyAgent, url: str, client: httpx.AsyncClient | None) -> Runnable[Any, Any]:
    """A stand-in for `agent.chain`: input and output cross the wire as JSON, and are checked on arrival.

    Raises:
        ConfigurationError: at once, without a client to send through.
        httpx.HTTPError: when run, if the service cannot be reached or answers with an error.
    """
    if client is None:
        raise ConfigurationError(
            f"{agent.name} runs at {url}, but HttpClients.services_async is not set: give it a client"
        )
    address = f"{url.rstrip('/')}/agents/{agent.name}/invoke"

    async def call(given: AgentInput) -> Answer:
        response = await client.post(address, json={"input": given.model_dump(mode="json")})
        if response.is_error:
            said = f"HTTP {response.status_code} from {address}: {_detail(response)}"
            raise httpx.HTTPStatusError(said, request=response.request, response=response)
        output: Answer = agent.output_model.model_validate(_without_name(response.json()["output"], agent.name))
        return output

    return ChainStep(call)


def _detail(response: httpx.Response) -> str:
    """Why the service failed, as far as it says so."""
    try:
        said = response.json()["detail"]
    except (ValueError, LookupError, TypeError):
        said = response.text
    return " ".join(str(said).split()) or response.reason_phrase


def _without_name(output: object, name: str) -> object:
    """The output without `agent_name`, which other services of this wire format send along; here the caller knows whom
    it has asked. Raises ValueError if somebody else has answered."""
    if not isinstance(output, dict) or "agent_name" not in output:
        return output
    if output["agent_name"] != name:
        raise ValueError(f"{output['agent_name']!r} answered in the place of {name}: see TRIAGE_AGENT_URLS")
    return {key: value for key, value in output.items() if key != "agent_name"}


ERROR_LIMIT: Final = 300
"""Characters of an error that the state keeps."""

Node = Callable[[BugTriageState], Awaitable[dict[str, Any]]]


def worker_node(agent: AnyAgent, toolbox: Toolbox) -> Node:
    """The graph node of `agent`; its chain is built at the first visit, here or at the service that runs it.

    Every failure ends as an entry in `agent_errors`, so that the supervisor can go on without this agent. That
    includes the LookupError of a replay without a recording: the replay keeps its own account of those. Only an outage
    is raised, as the supervisor's own is: the visit has not happened, and happens when the job is resumed.
    """
    chain: list[Runnable[Any, Any]] = []

    async def visit(state: BugTriageState) -> dict[str, Any]:
        account = toolbox.account
        silent = account.silent if account else 0
        counted = {"visits": [agent.name], "iterations": state.iterations + 1}
        try:
            if not chain:
                chain.append(chain_of(agent, toolbox))
            learned = _learned(agent, state, await chain[0].ainvoke(agent.read(state)))
            if account:
                account.silent = 0
        except GraphBubbleUp:  # LangGraph's way of pausing; it is derived from Exception, and is no failure
            raise
        except Exception as error:  # one agent's failure, of whatever kind, must not end the job
            if account and account.is_outage(error, silent):
                raise
            learned = _failed(agent, state, describe(error))
        return counted | learned

    return visit


def chain_of(agent: AnyAgent, toolbox: Toolbox) -> Runnable[Any, Any]:
    """The agent's chain in this process, or a call to its service where the settings name one."""
    url = toolbox.settings.agent_urls.get(agent.name)
    return remote_chain(agent, url, toolbox.clients.services_async) if url else agent.chain(toolbox)


def _learned(agent: AnyAgent, state: BugTriageState, output: Answer) -> dict[str, Any]:
    if output.error:
        return {**_failed(agent, state, masked(output.error)[:ERROR_LIMIT]), **agent.salvage(state, output)}
    return {"findings": [agent.finding(output)], **agent.update(state, output)}


def _failed(agent: AnyAgent, state: BugTriageState, error: str) -> dict[str, Any]:
    agent_failed(agent.name, error)
    return {"agent_errors": [AgentError(agent_name=agent.name, iteration=state.iterations + 1, error=error)]}


def describe(error: Exception) -> str:
    """One line: the kind of error, and what it says. Of a broken schema, the agent's own error where its answer has
    one, else which fields broke it."""
    if isinstance(error, ValidationError):
        if own := _own_error(error):
            return masked(own)[:ERROR_LIMIT]
        fields = ", ".join(".".join(map(str, problem["loc"])) or "the whole" for problem in error.errors())
        return f"the answer breaks its schema at {fields}"[:ERROR_LIMIT]
    text = no_completion(error) or next(iter(str(error).splitlines()), "")
    return masked(f"{type(error).__name__}: {text}")[:ERROR_LIMIT]


def _own_error(broken: ValidationError) -> str:
    """The text in the `error` field of an answer that left other fields out; empty where there is none."""
    answers = (found["input"] for found in broken.errors() if found["type"] == "missing" and len(found["loc"]) == 1)
    told = next((answer.get("error") for answer in answers if isinstance(answer, dict)), None)
    text = none_if_blank(told)
    return " ".join(text.split()) if isinstance(text, str) else ""


def gaps_of(state: BugTriageState) -> tuple[str, ...]:
    """What the latest review asks for; an approval has nothing left to ask for."""
    return state.critic_feedback.required_evidence if state.critic_feedback else ()


def named_before(state: BugTriageState, agent: Worker) -> list[str]:
    """What the agent's newest finding blames, as something to keep to unless there is a reason not to."""
    place = place_named(state, agent)
    if not place:
        return ["Nothing was found to blame then."]
    return [f"Blamed then: {place}. Keep to that unless what follows says otherwise."]


def place_named(state: BugTriageState, agent: Worker) -> str:
    """What the agent's newest finding blames; empty where it blames nothing."""
    details = next((found.details for found in reversed(state.findings) if found.agent_name == agent), NOT_IDENTIFIED)
    return "" if details in (NOT_IDENTIFIED, NONE_IDENTIFIED) else details


def once(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines without repeats, in order."""
    return tuple(dict.fromkeys(lines))
