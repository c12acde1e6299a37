"""Answers questions on Tidemark, a message broker: a supervisor calls two researchers with a search each."""

import re
from pathlib import Path
from typing import Any

from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import after_agent
from langchain.tools import ToolRuntime, tool
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langchain_openai import ChatOpenAI
from langgraph.graph.state import CompiledStateGraph

HERE = Path(__file__).parent
PROMPTS = HERE.parent / "prompts"
SHOWN = 3
Agent = CompiledStateGraph[Any, Any, Any, Any]
model = ChatOpenAI(model="claude", streaming=True, stream_usage=True)  # behind the gateway that OPENAI_BASE_URL names


class Answered(AgentState[Any]):
    """The conversation and what came of it."""

    answer: str


def sections(name: str) -> list[str]:
    """The sections of a document, each with its heading."""
    text = (HERE / "store" / f"{name}.md").read_text(encoding="utf-8")
    return [part.strip() for part in re.split(r"^(?=## )", text, flags=re.MULTILINE) if part.startswith("## ")]


def words(text: str) -> set[str]:
    """Stems of the words of a text, good enough for a small store."""
    return {word.rstrip("s")[:7] for word in re.findall(r"[a-z0-9_.]{3,}", text.lower())}


def found(name: str, query: str) -> str:
    """The sections that share most words with the query, best first."""
    wanted = words(query)
    ranked = sorted(sections(name), key=lambda part: -len(wanted & words(part)))
    return "\n\n".join(part for part in ranked[:SHOWN] if wanted & words(part)) or "Nothing found."


@tool
def search_handbook(query: str) -> str:
    """Search the handbook. Returns up to three sections."""
    return found("handbook", query)


@tool
def search_changelog(query: str) -> str:
    """Search the change log. Returns up to three entries."""
    return found("changelog", query)


def researcher(name: str, search: BaseTool) -> Agent:
    """An agent that searches one document."""
    text = (PROMPTS / f"{name}.md").read_text(encoding="utf-8")
    return create_agent(model, [search], system_prompt=text, name=name)


handbook = researcher("handbook", search_handbook)
changelog = researcher("changelog", search_changelog)


async def report(agent: Agent, runtime: ToolRuntime) -> str:
    """What a researcher says to the reader's question, which it gets as it was asked."""
    question = runtime.state["messages"][0].text
    done = await agent.ainvoke({"messages": [("user", question)]})
    return done["messages"][-1].text


@tool
async def ask_handbook(runtime: ToolRuntime) -> str:
    """Let the researcher of the handbook look up the reader's question."""
    return await report(handbook, runtime)


@tool
async def ask_changelog(runtime: ToolRuntime) -> str:
    """Let the researcher of the change log look up the reader's question."""
    return await report(changelog, runtime)


@after_agent(state_schema=Answered)
def keep_answer(state: Answered, runtime: object) -> dict[str, str]:
    """The last message is the answer."""
    del runtime
    return {"answer": state["messages"][-1].text}


def agent(config: RunnableConfig) -> Agent:
    """The supervisor, with the version of its prompt that the config names."""
    version = (config.get("configurable") or {}).get("supervisor", "v1")
    text = (PROMPTS / "supervisor" / f"{version}.md").read_text(encoding="utf-8")
    tools = [ask_handbook, ask_changelog]
    return create_agent(model, tools, system_prompt=text, middleware=[keep_answer], name="supervisor")
