"""Checks whether a deployment works: one small question to each model, to the search and to each service."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from langchain_openai import ChatOpenAI
from openai import OpenAIError
from pydantic import BaseModel, Field

from triage.agents.agent import Toolbox
from triage.agents.web_search import NO_WEB
from triage.codebase.embed import MiniLM
from triage.codebase.index import CodebaseIndex
from triage.job_requests import Account, reason
from triage.live_graph import can_search, live_toolbox
from triage.llm import ModelFactory
from triage.settings import Settings


@dataclass(frozen=True)
class Probe:
    """What was asked and what came of it, in one line."""

    good: bool
    text: str


class Word(BaseModel):
    """One word."""

    word: str = Field(description="the word 'ready'")


async def probed(settings: Settings) -> list[Probe]:
    """The results: the endpoint's models by name, the search, the services."""
    nothing = CodebaseIndex.build(None, MiniLM())
    async with live_toolbox(settings, nothing, Account()) as toolbox:
        asked = [*_models(toolbox), _search(toolbox), *_services(toolbox)]
        return list(await asyncio.gather(*asked))


def _models(toolbox: Toolbox) -> list[Awaitable[Probe]]:
    """One question for each model; agents that share one are named together."""
    settings, factory = toolbox.settings, toolbox.models
    here = [agent for agent in settings.models if agent not in settings.agent_urls]
    by_model: dict[str, list[str]] = {}
    for agent in here:
        by_model.setdefault(settings.models[agent], []).append(agent)
    return [_answers(factory, model, agents) for model, agents in by_model.items()]


async def _answers(factory: ModelFactory, model: str, agents: list[str]) -> Probe:
    what = f"{model} at {factory.settings.base_url} ({', '.join(agents)})"
    return await _tried(what, lambda: _structured(factory.chat(agents[0])))


async def _structured(chat: ChatOpenAI) -> str:
    said = await chat.with_structured_output(Word).ainvoke("Reply with the word 'ready'.")
    if not isinstance(said, Word):
        raise TypeError("it answers, but holds to no schema: choose a model with structured output")
    return "answers, and holds to a schema"


async def _search(toolbox: Toolbox) -> Probe:
    if not can_search(toolbox.settings):
        return Probe(good=True, text=f"search: {NO_WEB.replace('was not', 'will not be')}")
    from triage.search_tool import search_tool  # noqa: PLC0415  # importing it takes a second

    async def search() -> str:
        await search_tool(toolbox.settings, toolbox.clients).ainvoke({"query": "python release notes"})
        return "answers"

    return await _tried(f"search at {toolbox.settings.tavily_base_url}", search)


def _services(toolbox: Toolbox) -> list[Awaitable[Probe]]:
    client = toolbox.clients.services_async

    async def healthy(url: str) -> str:
        if client is None:
            raise TypeError("there is no client for services")
        (await client.get(f"{url.rstrip('/')}/health")).raise_for_status()
        return "is up"

    return [_tried(f"{agent} at {url}", partial(healthy, url)) for agent, url in toolbox.settings.agent_urls.items()]


async def _tried(what: str, ask: Callable[[], Awaitable[str]]) -> Probe:
    """The probe, whichever way it fails."""
    try:
        return Probe(good=True, text=f"{what}: {await ask()}")
    except OpenAIError as error:
        return Probe(good=False, text=f"{what}: {reason(error)}")
    except Exception as error:  # noqa: BLE001 - a probe is there to find out
        said = next(iter(str(error).splitlines()), type(error).__name__)
        return Probe(good=False, text=f"{what}: {said}")
