"""The event loop of a replay: nothing in it ever waits, so nothing is handed to a thread, or asked of the system.

LangChain sends every plain function it is given, and the reading of every answer, to a thread, so that a live loop
is not held up; each costs two switches of threads and a wake-up by the system, more than the function itself.
"""

import asyncio
import selectors
from asyncio import events
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, Final, TypeVar

Result = TypeVar("Result")

BETWEEN: Final = 64
"""Turns of a busy loop between two looks at what the system has for it: a signal, a time-out, a thread's result."""


def run_in_place(work: Coroutine[Any, Any, Result]) -> Result:
    """What `asyncio.run` gives, with functions meant for the default executor run where they are, one after the other."""
    with asyncio.Runner(loop_factory=_InPlace) as runner:
        return runner.run(work)


class _InPlace(asyncio.SelectorEventLoop):
    """A loop whose default executor is the thread it runs in."""

    def __init__(self) -> None:
        super().__init__(_Seldom())

    def run_in_executor(self, executor: Executor | None, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        """The result as a future that is done; of an executor that was named, what it gives."""
        if executor is not None:
            return super().run_in_executor(executor, func, *args)
        done: asyncio.Future[Any] = self.create_future()
        events._set_running_loop(None)  # what is run may start a loop of its own, as it may in a thread
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - whoever awaits it gets it, as from a thread
            done.set_exception(error)
        finally:
            events._set_running_loop(self)
        return done


class _Seldom(selectors.DefaultSelector):  # type: ignore[misc, valid-type]
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
