"""The model factory: every LLM of the team comes from here, over HTTP clients that are given from outside.

Live, recording and replaying differ only in the transport inside `HttpClients`; nothing below can tell which
it holds. Clients belong to one event loop: build them where the loop runs.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, cast

import httpx
import httpx2
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableSequence
from langchain_openai import ChatOpenAI
from openai import RateLimitError
from pydantic import BaseModel, SecretStr

from triage.account import Account
from triage.log import answered, asked
from triage.settings import Settings
from triage.step import Step
from triage.traffic import Traffic

Input = TypeVar("Input")
Output = TypeVar("Output")
Schema = TypeVar("Schema", bound=BaseModel)

AGENT_HEADER: Final = "x-triage-agent"
ATTEMPTS: Final = 3
"""Requests to the primary model, the first included, before the fallback is asked once."""

_NO_KEY: Final = SecretStr("no-key-set")  # the SDK refuses an empty key even where the endpoint wants none


@dataclass(frozen=True)
class HttpClients:
    """The one door to the outside. The SDKs differ in their HTTP library, hence two kinds of client."""

    openai: httpx2.Client
    openai_async: httpx2.AsyncClient
    tavily_async: httpx.AsyncClient
    services_async: httpx.AsyncClient | None = None
    """For agents run as services: a client of its own, since the Tavily SDK puts its key on the one given."""


def live_clients(settings: Settings, account: Account | None = None, traffic: Traffic | None = None) -> HttpClients:
    """Clients that really connect, their answers entered in `account` and kept in `traffic` where there is one; call it
    inside the event loop that will use them."""
    timeout_s, entered = settings.timeout_s, account or Account()
    kept = [traffic.enter] if traffic else []
    return HttpClients(
        openai=httpx2.Client(timeout=timeout_s),
        openai_async=httpx2.AsyncClient(timeout=timeout_s, event_hooks=_hooks(entered.enter, *kept)),
        tavily_async=httpx.AsyncClient(timeout=timeout_s, event_hooks=_hooks(*kept)),
        services_async=httpx.AsyncClient(timeout=timeout_s, event_hooks=_hooks()) if settings.agent_urls else None,
    )


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

    return ask | Step(read_once)


def resilient(
    build: Callable[[ChatOpenAI], Runnable[Input, Output]], models: ModelFactory, agent: str
) -> Runnable[Input, Output]:
    """`build` a chain on the agent's model: three attempts while rate-limited, then the fallback model once.

    Only HTTP 429 is worth repeating. Anything else (an outage, a bad key, an answer that breaks its schema)
    is raised at once, from the primary and from the fallback alike.
    """
    if not models.refused:
        return build(models.chat(agent))
    primary = build(models.chat(agent)).with_retry(
        retry_if_exception_type=(RateLimitError,),
        stop_after_attempt=ATTEMPTS,
        wait_exponential_jitter=models.settings.retry_jitter,
    )
    return primary.with_fallbacks([build(models.chat(agent, fallback=True))], exceptions_to_handle=(RateLimitError,))
