"""Tools of a target: each call is noted, and results of the tools that the suite names are recorded and replayed.

A result is kept in the cassette beside the HTTP interactions, as a request to `/tools/NAME` with the tool's arguments
as its body. Tools that the suite does not name run for real.
"""

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial, wraps
from typing import Any, Final

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.errors import GraphInterrupt
from pydantic_core import to_jsonable_python

from evals.cassettes.cassette_data import Interaction
from evals.cassettes.live_answer import HttpReply
from evals.cassettes.player import IncomingRequest, heard, play
from evals.errors import RecordingError
from evals.target.http_capture import TargetTrial, ToolCall, current_trial, location, record_result

_running: Final[ContextVar[BaseTool | None]] = ContextVar("running_tool", default=None)
RESULT: Final = "x_tool_result"
langchain_tools: Final[set[str]] = set()
"""Names of the LangChain tools that this process has made since the hooks were installed."""


def tool_hooks() -> list[tuple[type, str, Callable[[Any], Any]]]:
    """Class, method name, and wrapper of the original method."""
    return [(BaseTool, "__init__", _hooked_init), (BaseTool, "run", _hooked_run), (BaseTool, "arun", _hooked_arun)]


def _hooked_init(original: Any) -> Any:  # noqa: ANN401 - a method
    def init(self: BaseTool, **fields: Any) -> None:  # noqa: ANN401 - as the original
        original(self, **fields)
        langchain_tools.add(self.name)
        note_direct_calls(self, called, acalled)

    return init


def _hooked_run(original: Any) -> Any:  # noqa: ANN401 - a method
    def run(self: BaseTool, tool_input: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        work = partial(original, self, tool_input, *args, **kwargs)
        return called(self, tool_input, work, kwargs.get("tool_call_id"))

    return run


def _hooked_arun(original: Any) -> Any:  # noqa: ANN401 - a method
    async def arun(self: BaseTool, tool_input: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        work = partial(original, self, tool_input, *args, **kwargs)
        return await acalled(self, tool_input, work, kwargs.get("tool_call_id"))

    return arun


def called(tool: BaseTool, tool_input: object, work: Callable[[], Any], call_id: str | None = None) -> Any:  # noqa: ANN401
    """The result of a tool's `work`, noted in the trial; recorded or replayed where the suite says so."""
    trial = current_trial.get()
    if trial is None:
        return work()
    call = _call(tool, tool_input, trial)
    with _noted(trial, call), running(tool):
        found = _kept(call, trial)
        if found is None:
            result = work()
            if not call.recorded:
                return result
            found = record_result(_request(call), trial, _reply(call, result))
        return _result(found, tool.name, call_id)


async def acalled(
    tool: BaseTool, tool_input: object, work: Callable[[], Awaitable[Any]], call_id: str | None = None
) -> Any:  # noqa: ANN401
    """The same for work to be awaited."""
    trial = current_trial.get()
    if trial is None:
        return await work()
    call = _call(tool, tool_input, trial)
    with _noted(trial, call), running(tool):
        found = _kept(call, trial)
        if found is None:
            result = await work()
            if not call.recorded:
                return result
            found = await asyncio.to_thread(record_result, _request(call), trial, _reply(call, result))
        return _result(found, tool.name, call_id)


def _kept(call: ToolCall, trial: TargetTrial) -> Interaction | None:
    """The recorded result; None where the tool has to run. Raises MissError in a replay.

    A tool may ask models itself, so it must not run inside the recorder, which has a limit of requests in flight.
    """
    if not call.recorded:
        return None
    request = _request(call)
    return heard(request.key) if trial.recording is not None else play(request)


@contextmanager
def _noted(trial: TargetTrial, call: ToolCall) -> Iterator[None]:
    """Adds the call to the trial, with its error if it raises one."""
    trial.tool_calls.append(call)
    try:
        yield
    except GraphInterrupt:
        trial.tool_calls.remove(call)  # it runs again with the answer, and is noted then
        raise
    except BaseException as error:
        why = f"{type(error).__name__}: {error}".splitlines()[0]
        trial.tool_calls[trial.tool_calls.index(call)] = replace(call, error=why)
        raise


def _call(tool: BaseTool, tool_input: object, trial: TargetTrial) -> ToolCall:
    """The call with the arguments that a model gives: injected state, stores and configs are left out."""
    path, task, _ = location()
    given = tool_input if isinstance(tool_input, Mapping) else {"input": tool_input}
    names = set(tool.args) if isinstance(tool_input, Mapping) else set(given)
    arguments = {str(name): to_jsonable_python(given[name], fallback=str) for name in given if name in names}
    return ToolCall(tool.name, arguments, path, task, recorded=tool.name in trial.tools)


def _request(call: ToolCall) -> IncomingRequest:
    body = json.dumps(call.arguments).encode()
    return IncomingRequest("POST", f"/tools/{call.tool}", body, "/".join(call.path) or call.tool)


def _reply(call: ToolCall, result: object) -> HttpReply:
    """The result as JSON. Raises RecordingError if it is none."""
    kept: dict[str, Any] = {"value": result}
    if isinstance(result, ToolMessage):
        kept = {"content": result.content, "artifact": result.artifact, "status": result.status}
    try:
        text = json.dumps({RESULT: kept})
    except (TypeError, ValueError):
        kind = type(result).__name__
        message = f"tool {call.tool} returns a {kind} that is no JSON, so it cannot be recorded: take it off `record:`"
        raise RecordingError(message) from None
    return HttpReply(200, "application/json", text.encode())


def _result(found: Interaction, name: str, tool_call_id: str | None) -> Any:  # noqa: ANN401 - whatever a tool returns
    kept = found.response[RESULT]
    if "value" in kept:
        return kept["value"]
    return ToolMessage(tool_call_id=tool_call_id or "", name=name, **kept)


@contextmanager
def running(tool: BaseTool) -> Iterator[None]:
    """Inside the block the tool's function is called by the tool, which is noted already."""
    before = _running.set(tool)
    try:
        yield
    finally:
        _running.reset(before)


def note_direct_calls(tool: BaseTool, called: Callable[..., Any], acalled: Callable[..., Any]) -> None:
    """Let `called` and `acalled` answer whoever calls the tool's function, or its coroutine, by hand: they are given
    the tool, its arguments, and what does the work."""
    function, coroutine = getattr(tool, "func", None), getattr(tool, "coroutine", None)
    if inspect.isfunction(function):

        @wraps(function)
        def by_hand(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the function
            if _running.get() is tool:
                return function(*args, **kwargs)
            return called(tool, _bound(function, args, kwargs), partial(function, *args, **kwargs))

        tool.func = by_hand
    if inspect.iscoroutinefunction(coroutine):

        @wraps(coroutine)
        async def awaited(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the coroutine
            if _running.get() is tool:
                return await coroutine(*args, **kwargs)
            return await acalled(tool, _bound(coroutine, args, kwargs), partial(coroutine, *args, **kwargs))

        tool.coroutine = awaited


def _bound(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by name. Raises TypeError as the call itself would."""
    return inspect.signature(function).bind(*args, **kwargs).arguments
