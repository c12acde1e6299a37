"""Why nothing more is asked, known to everybody who asks: set once, by whoever learns it first."""

import asyncio

from evals.errors import RecordingStoppedError


class Stop:
    """What is under way goes on to its end; what has not begun, or waits to be tried again, does not."""

    def __init__(self) -> None:
        self.reason: RecordingStoppedError | None = None
        self._event = asyncio.Event()

    def set(self, reason: RecordingStoppedError) -> None:
        """Stop, for this reason; the first one stays."""
        self.reason = self.reason or reason
        self._event.set()

    def check(self) -> None:
        """Raises RecordingStoppedError if it is set."""
        if self.reason is not None:
            raise self.reason

    async def sleep(self, seconds: float) -> None:
        """Wait that long, or until it is set."""
        try:
            await asyncio.wait_for(self._event.wait(), seconds)
        except TimeoutError:
            return
