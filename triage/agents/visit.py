"""A visit: one run of an agent, as a graph node. Whatever happens, it counts as a visit and as an iteration."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from langchain_core.runnables import Runnable
from langgraph.errors import GraphBubbleUp
from pydantic import ValidationError

from triage.account import no_completion
from triage.agents.agent import AnyAgent, Toolbox
from triage.findings import Answer, none_if_blank
from triage.log import agent_failed
from triage.remote import remote_chain
from triage.secrecy.held import masked
from triage.state import AgentError, BugTriageState

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
