"""Blocking work in a thread with progress."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TypeVar

Result = TypeVar("Result")
Told = Callable[[str, int, int], None]
"""Hears what is being done, how many are done, and of how many. If it raises, the work ends."""
Watch = Callable[[], AbstractContextManager[Told]]
"""Watches one piece of work from its beginning to its end, however it ends."""


class _Left(Exception):  # noqa: N818  # no error: nobody waits any more
    """Ends the work."""


def untold(_what: str, _done: int, _total: int) -> None:
    """Told of what goes on, does nothing."""


def unwatched() -> AbstractContextManager[Told]:
    """Nobody watches."""
    return nullcontext(untold)


async def aside(work: Callable[[Told], Result], watch: Watch = unwatched) -> Result:
    """What `work` returns or raises. Cancelled, it is over at once, and the work at the next thing it tells."""
    outcome: Future[Result] = Future()

    def run(show: Told) -> None:
        def told(what: str, done: int, total: int) -> None:
            if outcome.cancelled():
                raise _Left
            show(what, done, total)

        with suppress(InvalidStateError):  # left in the meantime
            try:
                outcome.set_result(work(told))
            except Exception as error:  # noqa: BLE001  # raised where it is waited for
                outcome.set_exception(error)

    with watch() as show:
        threading.Thread(target=run, args=(show,), daemon=True).start()
        return await asyncio.wrap_future(outcome)
