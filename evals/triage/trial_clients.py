"""HTTP clients of a trial of the triage graph: one for each agent, and the fast way of a replay."""

import asyncio
import json
import selectors
from asyncio import events
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol

import httpx
import httpx2
from langchain_openai import ChatOpenAI
from openai import BaseModel, omit
from openai.lib._parsing import maybe_parse_content, parse_chat_completion, type_to_response_format_param
from openai.types.chat import ChatCompletion, ChatCompletionMessage, ParsedChatCompletion

from evals.cassettes.player import HttpxReplayTransport, ReplayTransport, asked, play
from evals.shortcut_switch import is_plain

if TYPE_CHECKING:
    from evals.triage.variant_graph import Team

_MEMBERS: Final = (
    "model",
    "stream",
    "messages",
    "max_completion_tokens",
    "response_format",
    "temperature",
    "tool_choice",
    "tools",
)
"""Arguments that are members of the body under the same name, in the SDK's order."""

_PLAIN_ENDS: Final = frozenset({"stop", None})
"""Ends of an answer that the SDK makes nothing of; others are errors, or calls of tools."""


class _Completions(Protocol):
    """The two methods of the SDK that ChatOpenAI calls."""

    async def create(self, **arguments: Any) -> Any: ...  # noqa: ANN401 - the SDK's own forty parameters

    async def parse(self, **arguments: Any) -> Any: ...  # noqa: ANN401


@dataclass(frozen=True)
class _Answer:
    """Stands for the SDK's raw response, of which ChatOpenAI asks for the parsed one only."""

    completion: Mapping[str, Any]
    shape: Any = None
    """The `response_format` that `parse` was given; None for `create`, which reads nothing into an answer."""

    def parse(self) -> BaseModel:
        """The completion as the SDK gives it. Raises the SDK's errors, and pydantic's."""
        if self.shape is None:
            return ChatCompletion.construct(**self.completion)
        choices = self.completion.get("choices")
        if isinstance(choices, list) and all(map(_is_plain, choices)):
            read = [_read(choice, self.shape) for choice in choices]  # once; the SDK builds all of it three times
            return ParsedChatCompletion.construct(**{**self.completion, "choices": read})
        whole = ChatCompletion.construct(**self.completion)
        return parse_chat_completion(response_format=self.shape, input_tools=omit, chat_completion=whole)


@dataclass(frozen=True)
class _Shortcut:
    """Answers requests from the tape, as those of a client with these `headers` to `path`, and lets `sdk` make the ones
    that it cannot build itself. Raises MissError."""

    sdk: _Completions
    path: str
    headers: Mapping[str, str]

    async def create(self, **arguments: Any) -> Any:  # noqa: ANN401
        """A completion, or the SDK's way to one."""
        body = _body(arguments)
        return await self.sdk.create(**arguments) if body is None else _Answer(self._answer(body))

    async def parse(self, **arguments: Any) -> Any:  # noqa: ANN401
        """A completion to be read as its `response_format` says, or the SDK's way to one."""
        body = None if "tools" in arguments else _body({**arguments, "stream": arguments.get("stream", False)})
        if body is None:
            return await self.sdk.parse(**arguments)
        return _Answer(self._answer(body), arguments["response_format"])

    def _answer(self, body: bytes) -> Mapping[str, Any]:
        return play(asked("POST", self.path.encode(), self.headers, body)).response


def shortened(model: ChatOpenAI) -> ChatOpenAI:
    """`model`, its requests answered from the tape before they are built."""
    client = model.root_async_client
    path = client.base_url.path.rstrip("/") + "/chat/completions"
    completions = client.chat.completions
    completions.with_raw_response = _Shortcut(completions.with_raw_response, path, client._custom_headers)  # noqa: SLF001 - `default_headers` is made anew each time
    return model


def _body(arguments: Mapping[str, Any]) -> bytes | None:
    """The bytes that the SDK would send; None where only the SDK knows them."""
    if not arguments.keys() <= {*_MEMBERS} or arguments.get("stream"):
        return None
    shape = arguments.get("response_format")
    values = {**arguments, "response_format": _schema_of(shape)} if isinstance(shape, type) else arguments
    body = {name: values[name] for name in _MEMBERS if name in values}
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError):  # the SDK knows how to send more kinds of values than JSON has
        return None


@cache
def _schema_of(shape: type) -> Any:  # noqa: ANN401 - a JSON schema
    return type_to_response_format_param(shape)


def _is_plain(choice: object) -> bool:
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        return False
    return choice.get("finish_reason") in _PLAIN_ENDS and not message.get("tool_calls")


def _read(choice: Mapping[str, Any], shape: Any) -> dict[str, Any]:  # noqa: ANN401 - a class, or JSON
    """The choice with its content as an instance of `shape`, as far as the SDK makes one. Raises ValidationError."""
    message = choice["message"]
    parsed = maybe_parse_content(response_format=shape, message=ChatCompletionMessage.construct(**message))
    return {**choice, "message": {**message, "parsed": parsed, "tool_calls": None}}


BETWEEN: Final = 64
"""Turns of a busy loop between two looks at what the system has for it: a signal, a time-out, a thread's result."""


def runner() -> asyncio.Runner:
    """A runner of coroutines, in which a function meant for the default executor runs where it is, at once; the
    library's own where the environment asks for the plain path."""
    return asyncio.Runner(loop_factory=None if is_plain() else _InPlace)


class _InPlace(asyncio.SelectorEventLoop):
    """A loop whose default executor is the thread it runs in."""

    def __init__(self) -> None:
        super().__init__(_Seldom())

    def run_in_executor(  # type: ignore[override]
        self,
        executor: Executor | None,
        func: Callable[..., Any],
        *args: Any,  # noqa: ANN401 - the library's
    ) -> asyncio.Future[Any]:
        """The result as a future that is done; of an executor that was named, what it gives."""
        if executor is not None:
            return super().run_in_executor(executor, func, *args)
        done: asyncio.Future[Any] = self.create_future()
        events._set_running_loop(None)  # noqa: SLF001 - for loops, as this one; what is run may start a loop of its own, as it may in a thread
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - whoever awaits it gets it, as from a thread
            done.set_exception(error)
        finally:
            events._set_running_loop(self)  # noqa: SLF001 - as above
        return done


class _Seldom(selectors.DefaultSelector):
    """Asks the system every time the loop has nothing else to do, and otherwise once in `BETWEEN` turns."""

    def __init__(self) -> None:
        super().__init__()
        self._turn = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready; nothing without a look where the loop is busy and the last look is not long ago."""
        self._turn += 1
        if timeout == 0 and self._turn % BETWEEN:
            return []
        found: list[tuple[selectors.SelectorKey, int]] = super().select(timeout)
        return found


def _as_it_is(model: "ChatOpenAI") -> "ChatOpenAI":
    return model


@dataclass(frozen=True)
class Clients:
    """The clients of one event loop; those that hold no connection serve any, and last as long as the process."""

    openai: httpx2.Client
    openai_async: httpx2.AsyncClient
    tavily_async: httpx.AsyncClient
    finish: "Callable[[ChatOpenAI], ChatOpenAI]" = _as_it_is
    """What is done to each model that is built over them."""
    lasting: bool = False
    teams: "dict[tuple[str, str], Team] | None" = field(default=None, compare=False)
    """The teams over these clients, for trials to share; None where each trial has one of its own."""

    async def close(self) -> None:
        """Close every connection; lasting clients have none."""
        if self.lasting:
            return
        self.openai.close()
        await self.openai_async.aclose()
        await self.tavily_async.aclose()


def recording_clients(llm: httpx2.AsyncBaseTransport, search: httpx.AsyncBaseTransport, timeout_s: float) -> Clients:
    """Clients whose asynchronous requests go through the given transports; trials share the graphs built over them."""
    return Clients(
        openai=httpx2.Client(transport=ReplayTransport(), trust_env=False),
        openai_async=httpx2.AsyncClient(transport=llm, trust_env=False, timeout=timeout_s),
        tavily_async=httpx.AsyncClient(transport=search, trust_env=False, timeout=timeout_s),
        teams={},
    )


def replay_clients() -> Clients:
    """Clients that answer from the current tape and cannot reach anything else: the same ones for every trial, unless
    the environment asks for the plain path."""
    return _over_the_tape() if is_plain() else _lasting()


@cache
def _lasting() -> Clients:

    return replace(_over_the_tape(), finish=shortened, lasting=True, teams={})


def _over_the_tape() -> Clients:
    return Clients(
        openai=httpx2.Client(transport=ReplayTransport(), trust_env=False),
        openai_async=httpx2.AsyncClient(transport=ReplayTransport(), trust_env=False),
        tavily_async=httpx.AsyncClient(transport=HttpxReplayTransport(), trust_env=False),
    )
