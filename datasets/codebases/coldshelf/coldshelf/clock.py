"""Where the time comes from: everything that needs it is handed a clock."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Tells the time in seconds since the epoch."""

    def now(self) -> float:
        """The current time."""
        ...


class SystemClock:
    """The clock of the machine."""

    def now(self) -> float:
        """The current time."""
        return time.time()


class ManualClock:
    """A clock that stands still until it is moved."""

    def __init__(self, start: float = 0.0) -> None:
        self._now = start

    def now(self) -> float:
        """The time it was last set to."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move forward."""
        self._now += seconds
