"""The event loop of a replay: nothing in it ever waits, so nothing is handed to a thread, or asked of the system.

LangChain sends every plain function it is given, and the reading of every answer, to a thread, so that a live loop
is not held up; each costs two switches of threads and a wake-up by the system, more than the function itself.
"""

import asyncio
import selectors
from asyncio import events
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, Final

from evals.subject.plain import is_plain

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
