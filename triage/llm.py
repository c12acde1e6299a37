"""Model factory: every LLM of the team, over injected HTTP clients."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, cast

import httpx
import httpx2
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSequence
from langchain_openai import ChatOpenAI
from openai import APITimeoutError, InternalServerError, RateLimitError
from pydantic import BaseModel, SecretStr

from triage.job_model_requests import Account, Traffic
from triage.settings import Settings
from triage.terminal_screen import answered, asked, failed

Given = TypeVar("Given")
Made = TypeVar("Made")


class ChainStep(Runnable[Given, Made]):
    """`work`, a coroutine function of one argument."""

    def __init__(self, work: Callable[[Given], Awaitable[Made]]) -> None:
        self.work = work

    # The parameters are the parent's.
    async def ainvoke(self, input: Given, config: RunnableConfig | None = None, **kwargs: Any) -> Made:  # noqa: A002, ANN401, ARG002
        """What `work` makes of it."""
        return await self.work(input)

    def invoke(self, input: Given, config: RunnableConfig | None = None, **kwargs: Any) -> Made:  # noqa: A002, ANN401
        """The same from outside an event loop."""
        return asyncio.run(self.ainvoke(input, config, **kwargs))


Input = TypeVar("Input")
Output = TypeVar("Output")
Schema = TypeVar("Schema", bound=BaseModel)

AGENT_HEADER: Final = "x-triage-agent"
ATTEMPTS: Final = 3
"""Requests to the primary model, the first included, before the fallback is asked once (or the error raised)."""
REPEATED: Final = (RateLimitError, InternalServerError, APITimeoutError)
"""What is worth asking again: HTTP 429, HTTP 5xx, and no answer in time."""

_NO_KEY: Final = SecretStr("no-key-set")  # the SDK refuses an empty key even where the endpoint wants none


@dataclass(frozen=True)
class HttpClients:
    """The one door to the outside. The SDKs differ in their HTTP library, hence two kinds of client."""

    openai: httpx2.Client
    openai_async: httpx2.AsyncClient
    tavily_async: httpx.AsyncClient
    services_async: httpx.AsyncClient | None = None
    """For agents run as services: a client of its own, since the Tavily SDK puts its key on the one given."""


class ModelClient(httpx2.AsyncClient):
    """The client for models: asks the account whether a request may go out, and tells it of those without an answer."""

    def __init__(self, account: Account, **options: Any) -> None:  # noqa: ANN401 - the parent's
        super().__init__(**options)
        self._account = account

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:  # noqa: ANN401 - the parent's
        """Send it, unless the job's budget does not allow it."""
        self._account.admit(request)
        try:
            return await super().send(request, **options)
        except Exception as error:
            failed(request, error)
            await self._account.lose(request, error)
            raise


class LoggingClient(httpx.AsyncClient):
    """The client for searches and services: a request without an answer is logged, too."""

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:  # noqa: ANN401 - the parent's
        """Send it."""
        try:
            return await super().send(request, **options)
        except Exception as error:
            failed(request, error)
            raise


def live_clients(settings: Settings, account: Account | None = None, traffic: Traffic | None = None) -> HttpClients:
    """Clients that really connect, their answers entered in `account` and kept in `traffic` where there is one; call it
    inside the event loop that will use them."""
    timeout_s, entered = settings.timeout_s, account or Account()
    kept = [traffic.enter] if traffic else []
    endpoint, search = (settings.logins.get(url) for url in (settings.base_url, settings.tavily_base_url))
    return HttpClients(
        openai=httpx2.Client(timeout=timeout_s, auth=endpoint),
        openai_async=ModelClient(entered, timeout=timeout_s, auth=endpoint, event_hooks=_hooks(entered.enter, *kept)),
        tavily_async=LoggingClient(timeout=timeout_s, auth=search, event_hooks=_hooks(*kept)),
        services_async=_services_client(settings) if settings.agent_urls else None,
    )


def _services_client(settings: Settings) -> httpx.AsyncClient:
    """It is used for the addresses of agents alone and follows no redirect, so their token goes nowhere else."""
    token = settings.service_token.get_secret_value()
    headers = {"authorization": f"Bearer {token}"} if token else {}
    auth = _LoginByAddress(settings.logins)
    return LoggingClient(timeout=settings.timeout_s, auth=auth, headers=headers, event_hooks=_hooks())


@dataclass(frozen=True)
class _LoginByAddress(httpx.Auth):
    """Sends each service the login its address had."""

    logins: Mapping[str, tuple[str, str]]

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        asked = str(request.url)
        login = next((login for url, login in self.logins.items() if asked.startswith(f"{url.rstrip('/')}/")), None)
        if login:
            yield from httpx.BasicAuth(*login).auth_flow(request)
        else:
            yield request


def _hooks(*heard: Callable[[Any], Awaitable[None]]) -> dict[str, list[Callable[[Any], Awaitable[None]]]]:
    """Every request and answer is logged, and then heard by those who want to."""
    return {"request": [asked], "response": [answered, *heard]}


@dataclass(frozen=True)
class ModelFactory:
    """Makes each agent's chat model once, and hands out the same one from then on."""

    settings: Settings
    clients: HttpClients
    finish: Callable[[ChatOpenAI], ChatOpenAI] = lambda model: model
    """What is done to a model before it is handed out, e.g. by a replay that knows a shorter way to its answers."""
    refused: bool = True
    """Whether an answer may ever be a rate limit; a replay knows of none, and spares itself the machinery."""
    _made: dict[tuple[str, bool], ChatOpenAI] = field(default_factory=dict, init=False, repr=False, compare=False)

    def chat(self, agent: str, *, fallback: bool = False) -> ChatOpenAI:
        """The model of `agent`, or its fallback.

        Raises:
            ConfigurationError: the settings know no model for this agent.
        """
        if (agent, fallback) not in self._made:
            self._made[agent, fallback] = self.finish(
                self._build(agent, self.settings.model_of(agent, fallback=fallback))
            )
        return self._made[agent, fallback]

    def _build(self, agent: str, model: str) -> ChatOpenAI:
        settings = self.settings
        return ChatOpenAI(
            model=model,
            temperature=0,
            base_url=settings.base_url,
            api_key=settings.api_key if settings.api_key.get_secret_value() else _NO_KEY,
            timeout=settings.timeout_s,
            max_tokens=settings.max_output_tokens,
            max_retries=0,  # retries are `resilient`'s: both together would make ten requests out of four
            disable_streaming=True,  # astream_events would otherwise switch to SSE, which no replay serves
            default_headers={AGENT_HEADER: agent},
            http_client=self.clients.openai,
            http_async_client=self.clients.openai_async,
        )


def answering(model: ChatOpenAI, schema: type[Schema]) -> Runnable[Any, Schema]:
    """The model, its answers as instances of `schema`, which it is told to keep to.

    What the SDK has read already is taken as it is; whatever else came back is LangChain's to judge.
    """
    ask, read = cast("RunnableSequence[Any, Any]", model.with_structured_output(schema)).steps

    async def read_once(said: AIMessage) -> Schema:
        found = said.additional_kwargs.get("parsed")
        return found if isinstance(found, schema) else await read.ainvoke(said)

    return ask | ChainStep(read_once)


def resilient(
    build: Callable[[ChatOpenAI], Runnable[Input, Output]], models: ModelFactory, agent: str
) -> Runnable[Input, Output]:
    """`build` a chain on the agent's model: three attempts at what may pass by itself (`REPEATED`), with the same waits
    between them. A model that is still rate-limited then gives way to the fallback model, which is asked once: another
    model has a limit of its own, but the same server.

    Anything else (nobody listens, a bad key, an answer that breaks its schema) is raised at once, from the primary and
    from the fallback alike.
    """
    if not models.refused:
        return build(models.chat(agent))
    primary = build(models.chat(agent)).with_retry(
        retry_if_exception_type=REPEATED,
        stop_after_attempt=ATTEMPTS,
        wait_exponential_jitter=models.settings.retry_jitter,
    )
    return primary.with_fallbacks([build(models.chat(agent, fallback=True))], exceptions_to_handle=(RateLimitError,))
