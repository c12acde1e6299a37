"""The web search decides what to look up, looks it up, and has a second call make sense of what came back.

Two calls, never one model with both a tool and an answer schema: it would mix up the two.
"""

from typing import Annotated, Any, Final

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import ToolException
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from pydantic import BaseModel, ConfigDict, Field

from triage.agents.agent import (
    Agent,
    AgentInput,
    Toolbox,
    clipped,
    instructions_block,
    latest_hypothesis,
    prompt_of,
    structured,
)
from triage.findings import NONE_IDENTIFIED, Answer, to_finding
from triage.llm import resilient
from triage.state import AgentFinding, BugTriageState

MAX_SEARCHES: Final = 3
"""Searches of one visit; a model that asks for more gets the first ones."""
NO_SEARCH: Final = "No search was made."


class WebSearchInput(AgentInput):
    """The issue, and what to look for outside the repository."""

    issue_title: str
    issue_body: str
    hypothesis: str
    keywords: tuple[str, ...] = ()


class WebResult(BaseModel):
    """A page that matters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str
    title: str
    why: str


class WebSearchOutput(Answer):
    """What the web knows about this bug."""

    external_root_cause: str | None = Field(description="a cause outside this repository, or null")
    relevant_results: Annotated[list[WebResult], Field(max_length=5)]


def read(state: BugTriageState) -> WebSearchInput:
    """The issue, the newest hypothesis and the investigator's keywords."""
    return WebSearchInput(
        issue_title=state.issue_title,
        issue_body=state.issue_body,
        hypothesis=latest_hypothesis(state),
        keywords=tuple(state.search_keywords),
        instructions=tuple(state.redirect_instructions),
    )


def chain(toolbox: Toolbox) -> Runnable[WebSearchInput, WebSearchOutput]:
    """Tool call -> search -> structured call. Where the model asks for no search, the last call is told so."""
    from triage.search_tool import search_tool  # noqa: PLC0415  # importing it takes a second

    tool = search_tool(toolbox.settings, toolbox.clients)
    prompt = prompt_of("web_search")
    choose = resilient(lambda model: prompt | model.bind_tools([tool]), toolbox.models, "web_search")
    run_tools = _tool_runner(ToolNode([tool], handle_tool_errors=_told_to_the_model))
    conclude = structured("web_result", WebSearchOutput, toolbox.models, "web_search")

    async def search(given: WebSearchInput) -> WebSearchOutput:
        variables = _variables(given)
        asked = await choose.ainvoke(variables)
        found = await _results(run_tools, asked)
        return await conclude.ainvoke(variables | {"results": results_text(found)})

    return RunnableLambda(search)


def _told_to_the_model(error: ToolException) -> str:
    """A failed search or a malformed call, in one line; by the annotation ToolNode catches nothing else."""
    return str(error).splitlines()[0]


def _tool_runner(node: ToolNode) -> Runnable[Any, Any]:
    """A graph around the ToolNode, which cannot run outside of one; it keeps nothing between calls."""
    graph = StateGraph(MessagesState)
    graph.add_node("search", node)
    graph.add_edge(START, "search")
    graph.add_edge("search", END)
    return graph.compile(checkpointer=False)


async def _results(run_tools: Runnable[Any, Any], asked: AnyMessage) -> list[ToolMessage]:
    calls = asked.tool_calls[:MAX_SEARCHES] if isinstance(asked, AIMessage) else []
    if not calls:
        return []
    state = await run_tools.ainvoke({"messages": [AIMessage(content="", tool_calls=calls)]})
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


def results_text(found: list[ToolMessage]) -> str:
    """The tool's answers in the order of the calls."""
    return "\n\n".join(str(message.content) for message in found) or NO_SEARCH


def _variables(given: WebSearchInput) -> dict[str, str]:
    return {
        "issue_title": given.issue_title,
        "issue_body": clipped(given.issue_body),
        "hypothesis": given.hypothesis,
        "keywords": ", ".join(given.keywords) or "none",
        "instructions": instructions_block(given.instructions),
    }


def finding(output: WebSearchOutput) -> AgentFinding:
    """Details are the cause found outside; the "files" are the pages."""
    details = output.external_root_cause or NONE_IDENTIFIED
    return to_finding("web_search", output, details, [result.url for result in output.relevant_results])


WEB_SEARCH: Final = Agent("web_search", WebSearchInput, WebSearchOutput, read, chain, finding)
