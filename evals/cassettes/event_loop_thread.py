"""Background thread that runs an event loop for network I/O."""

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
        self._thread = Thread(target=self._run, name="endpoint", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        """Go on after a SystemExit that a task raises: it is a result of the task, but leaves the loop as well."""
        while True:
            try:
                self._loop.run_forever()
            except (SystemExit, KeyboardInterrupt):
                continue
            return

    async def __call__(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """What it returns or raises; cancelled with the caller."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self._loop))

    def wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """What it returns or raises, for a caller that has no event loop; blocks the caller's thread."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def end(self) -> None:
        """Stop the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
