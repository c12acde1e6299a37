"""The live graph: clients opened, repository indexed, settings checked, and its endpoints tried for `triage check`."""

import asyncio
import datetime as dt
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from langchain_openai import ChatOpenAI
from openai import OpenAIError
from pydantic import BaseModel, Field, ValidationError

from evals.shared.secrets.rule import hold, hold_environment
from triage.agents.agent import Toolbox
from triage.agents.web_search import NO_WEB
from triage.codebase.checkout_index import index_of_sources
from triage.codebase.embed import MiniLM, cache_folder
from triage.codebase.index import CodebaseIndex
from triage.codebase.source_files import Source
from triage.errors import ConfigurationError
from triage.job_model_requests import Account, Traffic, reason
from triage.llm import ModelFactory, live_clients
from triage.run_in_thread import Watch, aside, unwatched
from triage.settings import Settings

PUBLIC: Final = Settings.model_fields["base_url"].default
"""The endpoint that is asked where none is named."""


def settings_from_environment(model: str | None = None) -> Settings:
    """The settings in `TRIAGE_…`; `model`, if given, answers for every agent and as every fallback.

    Raises:
        ConfigurationError: a variable is malformed, or the public endpoint is to be used without a key.
    """
    try:
        settings = Settings(**_of_openai(os.environ)).with_logins_apart()
    except ValidationError as error:
        first = error.errors()[0]
        name = "TRIAGE_" + str(first["loc"][0]).upper()
        raise ConfigurationError(f"{name}: {first['msg'].removeprefix('Value error, ')}") from error
    if not settings.api_key.get_secret_value() and settings.base_url == PUBLIC:
        raise ConfigurationError("no key: set TRIAGE_API_KEY, or TRIAGE_BASE_URL for an endpoint that needs none")
    if model is None:
        return settings
    same = {"models": dict.fromkeys(settings.models, model), "fallbacks": dict.fromkeys(settings.fallbacks, model)}
    return settings.model_copy(update=same)


def _of_openai(environment: Mapping[str, str]) -> dict[str, Any]:
    """What the OpenAI SDK would read, for what `TRIAGE_…` leaves open. Its key goes to its own endpoint only: another
    one, named in TRIAGE_BASE_URL, must not get to see it."""
    if "TRIAGE_BASE_URL" in environment:
        return {}
    found = {"base_url": "OPENAI_BASE_URL", "api_key": "OPENAI_API_KEY"}
    open_ = {name: variable for name, variable in found.items() if f"TRIAGE_{name.upper()}" not in environment}
    return {name: environment[variable] for name, variable in open_.items() if environment.get(variable)}


def can_search(settings: Settings) -> bool:
    """Whether the web can be searched: with a key, or at a service of one's own, which may need none."""
    public = settings.tavily_base_url == Settings.model_fields["tavily_base_url"].default
    return bool(settings.tavily_api_key.get_secret_value()) or not public


async def index_of_repository(
    sources: Sequence[Source], complain: Callable[[str], None], watch: Watch = unwatched
) -> CodebaseIndex:
    """The index of all `sources`, made beside the event loop under a `watch`, as are its searches.

    `complain` hears if nothing of it can be kept for the next job.

    Raises:
        InputError: not a folder, or nothing in it to read.
    """
    return await aside(lambda told: index_of_sources(sources, cache_folder(), complain, told, watch), watch)


def now() -> dt.datetime:
    """The time, with its zone."""
    return dt.datetime.now(dt.UTC)


@asynccontextmanager
async def live_toolbox(
    settings: Settings, index: CodebaseIndex, account: Account | None = None, traffic: Traffic | None = None
) -> AsyncIterator[Toolbox]:
    """A toolbox that really connects, enters what it asks in `account`, and keeps it in `traffic`; every repository
    name means the one indexed. Open it in the loop that uses it."""
    hold_environment()
    hold(*(password for _, password in settings.logins.values()))
    clients = live_clients(settings, account, traffic)
    async with AsyncExitStack() as opened:
        opened.enter_context(clients.openai)
        await opened.enter_async_context(clients.openai_async)
        await opened.enter_async_context(clients.tavily_async)
        if clients.services_async is not None:
            await opened.enter_async_context(clients.services_async)
        models = ModelFactory(settings, clients)
        yield Toolbox(settings, clients, models, lambda _repository: index, now, account, can_search(settings))


@dataclass(frozen=True)
class Probe:
    """What was asked and what came of it, in one line."""

    good: bool
    text: str


class Word(BaseModel):
    """One word."""

    word: str = Field(description="the word 'ready'")


async def probed(settings: Settings) -> list[Probe]:
    """One small question to each model, to the search and to each service: the models by name, then the search, then
    the services."""
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
    from triage.web_search_tool import search_tool  # noqa: PLC0415  # importing it takes a second

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
