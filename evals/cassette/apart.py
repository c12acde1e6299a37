"""A thread with an event loop of its own: what waits for the network is not kept waiting by what computes."""

import asyncio
from collections.abc import Coroutine
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


async def here(coroutine: Coroutine[Any, Any, T]) -> T:
    """In the caller's own loop."""
    return await coroutine


class Apart:
    """Runs coroutines in its thread, with the caller's context; `end` when nothing is under way any more."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="endpoint", daemon=True)
        self._thread.start()

    async def __call__(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """What it returns or raises; cancelled with the caller."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self._loop))

    def end(self) -> None:
        """Stop the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
