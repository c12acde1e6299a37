"""Where the time comes from. Everything inside taskmill is UTC and timezone-aware."""

from datetime import datetime, timedelta, timezone
from typing import Protocol

_FORMAT_SPEC = "microseconds"


class Clock(Protocol):
    """Anything that knows the time."""

    def now(self) -> datetime:
        """The current moment, aware, in UTC."""
        ...


class SystemClock:
    """The clock of the host."""

    def now(self) -> datetime:
        return datetime.now(timezone.utc)


class ManualClock:
    """A clock that only moves when told to."""

    def __init__(self, start: datetime) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)


def to_text(moment: datetime) -> str:
    """Fixed-width ISO text, so that stored moments sort as strings."""
    return moment.astimezone(timezone.utc).isoformat(timespec=_FORMAT_SPEC)


def from_text(text: str) -> datetime:
    """The inverse of `to_text`."""
    return datetime.fromisoformat(text)
