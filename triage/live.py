"""Wiring for real use: settings checked, clients opened and closed, one repository indexed."""

import datetime as dt
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from pydantic import ValidationError

from triage.agents.agent import Toolbox
from triage.codebase.embed import MiniLM
from triage.codebase.index import CodebaseIndex
from triage.errors import ConfigurationError, InputError
from triage.llm import ModelFactory, live_clients
from triage.settings import Settings


def settings_from_environment(model: str | None = None) -> Settings:
    """The settings in `TRIAGE_…`; `model`, if given, answers for every agent and as every fallback.

    Raises:
        ConfigurationError: a variable is malformed, or the public endpoint is to be used without a key.
    """
    try:
        settings = Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = "TRIAGE_" + "_".join(map(str, first["loc"])).upper()
        raise ConfigurationError(f"{name}: {first['msg']}") from error
    if not settings.api_key.get_secret_value() and settings.base_url == Settings.model_fields["base_url"].default:
        raise ConfigurationError("no key: set TRIAGE_API_KEY, or TRIAGE_BASE_URL for an endpoint that needs none")
    if model is None:
        return settings
    same = {"models": dict.fromkeys(settings.models, model), "fallbacks": dict.fromkeys(settings.fallbacks, model)}
    return settings.model_copy(update=same)


def index_of_repository(root: Path) -> CodebaseIndex:
    """The index of the tree at `root`.

    Raises:
        InputError: not a folder, not readable, or nothing in it to read.
    """
    if not root.is_dir():
        raise InputError(f"{root}: no such folder; give the checkout of the repository")
    try:
        index = CodebaseIndex.build(root, MiniLM())
    except OSError as error:
        raise InputError(f"{error.filename or root}: the repository cannot be read ({error.strerror})") from error
    if not index.paths:
        raise InputError(f"{root}: there is no text file to search in; give the checkout of the repository")
    return index


def now() -> dt.datetime:
    """The time, with its zone."""
    return dt.datetime.now(dt.UTC)


@asynccontextmanager
async def live_toolbox(settings: Settings, index: CodebaseIndex) -> AsyncIterator[Toolbox]:
    """A toolbox that really connects; every repository name means the one indexed. Open it in the loop that uses it."""
    clients = live_clients(settings)
    async with AsyncExitStack() as opened:
        opened.enter_context(clients.openai)
        await opened.enter_async_context(clients.openai_async)
        await opened.enter_async_context(clients.tavily_async)
        if clients.services_async is not None:
            await opened.enter_async_context(clients.services_async)
        yield Toolbox(settings, clients, ModelFactory(settings, clients), lambda _repository: index, now)
