"""The web search decides what to look up, looks it up, and has a second call make sense of what came back.

Two calls, never one model with both a tool and an answer schema: it would mix up the two.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import ToolException
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from pydantic import BaseModel, ConfigDict, Field

from triage.agents.agent import (
    ISSUE_LIMIT,
    Agent,
    AgentInput,
    Toolbox,
    gaps_of,
    instructions_block,
    latest_hypothesis,
    named_before,
    once,
    prompt_of,
    structured,
)
from triage.errors import ConfigurationError
from triage.findings import NONE_IDENTIFIED, Answer, asks, to_finding
from triage.issue import discussion_block, shortened
from triage.llm import ChainStep, resilient
from triage.state import AgentFinding, BugTriageState

MAX_SEARCHES: Final = 3
"""Searches of one visit; a model that asks for more gets the first ones."""
NO_WEB: Final = "the web was not searched: TRIAGE_TAVILY_API_KEY is not set"
NO_SEARCH: Final = "No search was made."


class WebSearchInput(AgentInput):
    """The issue, and what to look for outside the repository."""

    issue_title: str
    issue_body: str
    issue_discussion: str = ""
    hypothesis: str
    keywords: tuple[str, ...] = ()
    read_before: tuple[str, ...] = ()
    """Addresses of pages that earlier searches of the job have read; they are not shown again."""


class WebResult(BaseModel):
    """A page that matters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str
    title: str
    why: str


class WebSearchOutput(Answer):  # its name is part of the request
    """What the web knows about this bug."""

    external_root_cause: str | None = Field(description="a cause outside this repository, or null")
    relevant_results: Annotated[list[WebResult], Field(max_length=5)]


class WebSearchDone(WebSearchOutput):
    """The model's answer, and what it rests on: the queries, and the addresses of the pages that were shown."""

    queries: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()


def read(state: BugTriageState) -> WebSearchInput:
    """The issue, the newest hypothesis and the investigator's keywords; in a further search also what was looked for
    and read before, and what a review found missing."""
    return WebSearchInput(
        issue_title=state.issue_title,
        issue_body=state.issue_body,
        issue_discussion=state.issue_discussion,
        hypothesis=latest_hypothesis(state),
        keywords=tuple(state.search_keywords),
        instructions=once([*state.redirect_instructions, *(_told_of_before(state) if state.web_queries else ())]),
        read_before=tuple(state.pages_read),
    )


def _told_of_before(state: BugTriageState) -> list[str]:
    return [
        f"Searched for earlier: {'; '.join(state.web_queries)}. Search for something else.",
        *([f"Read then, and left out now: {', '.join(state.pages_read)}"] if state.pages_read else []),
        *named_before(state, "web_search"),
        *asks(gaps_of(state)),
    ]


def chain(toolbox: Toolbox) -> Runnable[WebSearchInput, WebSearchDone]:
    """Tool call -> search -> structured call. Where the model asks for no search, the last call is told so.

    Live, a visit whose searches all fail is a failure (ToolException when run): what a model makes of nothing reads
    like a finding. A replay concludes as its recording did.

    Raises:
        ConfigurationError: there is no web to search.
    """
    from triage.web_search_tool import search_tool  # noqa: PLC0415  # importing it takes a second

    if not toolbox.searches:
        raise ConfigurationError(NO_WEB)
    tool = search_tool(toolbox.settings, toolbox.clients, *([toolbox.account.searched] if toolbox.account else []))
    prompt = prompt_of("web_search", toolbox)
    choose = resilient(lambda model: prompt | model.bind_tools([tool]), toolbox.models, "web_search")
    run_tools = _tool_runner(ToolNode([tool], handle_tool_errors=_told_to_the_model))
    conclude = structured("web_result", WebSearchOutput, toolbox, "web_search")

    async def search(given: WebSearchInput) -> WebSearchDone:
        variables = _variables(given)
        calls = _calls(await choose.ainvoke(variables))
        found = await _results(run_tools, calls)
        if toolbox.account and found and all(message.artifact is None for message in found):
            raise ToolException(f"no search came to anything: {found[0].content}")
        answer = await conclude.ainvoke(variables | {"results": shown(calls, found, given.read_before)})
        return WebSearchDone(
            **answer.model_dump(),
            queries=once([query_of(call) for call in calls]),
            pages=once([page.url for message in found for page in message.artifact or ()]),
        )

    return ChainStep(search)


def query_of(call: ToolCall) -> str:
    """What the model asked the search engine; "" where it called the tool wrongly."""
    return str(call["args"].get("query", ""))


def _told_to_the_model(error: ToolException) -> str:
    """A failed search or a malformed call, in one line; by the annotation ToolNode catches nothing else."""
    return str(error).splitlines()[0]


def _tool_runner(node: ToolNode) -> Runnable[Any, Any]:
    """A graph around the ToolNode, which cannot run outside of one; it keeps nothing between calls.

    A thread of its own is how LangGraph is told that it is no part of the graph it is called from: it would take over
    the way that one is stored, and wait for a checkpoint that nobody writes. Callbacks still reach it.
    """
    graph = StateGraph(MessagesState)
    graph.add_node("search", node)
    graph.add_edge(START, "search")
    graph.add_edge("search", END)
    return graph.compile(checkpointer=False).with_config(configurable={"thread_id": "web_search"})


def _calls(asked: AnyMessage) -> list[ToolCall]:
    return asked.tool_calls[:MAX_SEARCHES] if isinstance(asked, AIMessage) else []


async def _results(run_tools: Runnable[Any, Any], calls: list[ToolCall]) -> list[ToolMessage]:
    if not calls:
        return []
    state = await run_tools.ainvoke({"messages": [AIMessage(content="", tool_calls=calls)]})
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


def shown(calls: list[ToolCall], found: list[ToolMessage], read_before: Sequence[str]) -> str:
    """The tool's answers in the order of the calls, without the pages read before."""
    from triage.web_search_tool import results_text  # noqa: PLC0415  # as above

    def text(call: ToolCall, message: ToolMessage) -> str:
        failed = message.artifact is None
        return str(message.content) if failed else results_text(query_of(call), message.artifact, read_before)

    return "\n\n".join(text(*pair) for pair in zip(calls, found, strict=True)) or NO_SEARCH


def _variables(given: WebSearchInput) -> dict[str, str]:
    return {
        "issue_title": given.issue_title,
        "issue_body": shortened(given.issue_body, ISSUE_LIMIT) + discussion_block(given.issue_discussion),
        "hypothesis": given.hypothesis,
        "keywords": ", ".join(given.keywords) or "none",
        "instructions": instructions_block(given.instructions),
    }


def finding(output: WebSearchOutput) -> AgentFinding:
    """Details are the cause found outside; the "files" are the pages."""
    details = output.external_root_cause or NONE_IDENTIFIED
    return to_finding("web_search", output, details, [result.url for result in output.relevant_results])


def update(_state: BugTriageState, output: WebSearchDone) -> dict[str, Any]:
    """What was looked for and read, so that a further search can look elsewhere."""
    return {"web_queries": [query for query in output.queries if query], "pages_read": list(output.pages)}


WEB_SEARCH: Final = Agent("web_search", WebSearchInput, WebSearchDone, read, chain, finding, update)
