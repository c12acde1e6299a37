"""Calls of a LangChain tool's function itself, as in `search.func(query)`: noted like the tool's own `invoke`."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial, wraps
from typing import Any, Final

from langchain_core.tools import BaseTool

_running: Final[ContextVar[BaseTool | None]] = ContextVar("running_tool", default=None)


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
