"""Grids of intervals in local time: a day is from midnight to midnight, be it 23, 24 or 25 hours long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from tallyflow.localtime import UTC
from tallyflow.model import Slot

MINUTES = {"quarter": 15, "hour": 60}
INTERVALS = ("quarter", "hour", "day", "month")


@dataclass(frozen=True)
class Grid:
    """All intervals of one length in one time zone."""

    interval: str
    tz: ZoneInfo

    def slot(self, at: datetime) -> Slot:
        """The slot that holds a moment."""
        start = self._floor(at)
        return Slot(start, self._next(start))

    def slots(self, start: datetime, end: datetime) -> Iterator[Slot]:
        """All slots that share time with the span from `start` to `end`, by time."""
        slot = self.slot(start)
        while slot.start < end:
            yield slot
            slot = self.slot(slot.end)

    def label(self, slot: Slot) -> str:
        """A slot as people write it; the repeated hour carries its offset."""
        local = slot.start.astimezone(self.tz)
        if self.interval == "month":
            return f"{local:%Y-%m}"
        if self.interval == "day":
            return f"{local:%Y-%m-%d}"
        twin = local.replace(fold=1 - local.fold)
        return f"{local:%Y-%m-%d %H:%M}" + (f"{local:%z}" if twin.utcoffset() != local.utcoffset() else "")

    def _floor(self, at: datetime) -> datetime:
        local = at.astimezone(self.tz)
        if self.interval == "day":
            return self._midnight(local.date())
        if self.interval == "month":
            return self._midnight(local.date().replace(day=1))
        surplus = timedelta(
            minutes=local.minute % MINUTES[self.interval], seconds=local.second, microseconds=local.microsecond
        )
        return (at - surplus).astimezone(UTC)

    def _next(self, start: datetime) -> datetime:
        if self.interval in MINUTES:
            return start + timedelta(minutes=MINUTES[self.interval])
        day = start.astimezone(self.tz).date()
        if self.interval == "day":
            return self._midnight(day + timedelta(days=1))
        return self._midnight((day.replace(day=1) + timedelta(days=32)).replace(day=1))

    def _midnight(self, day: date) -> datetime:
        return datetime.combine(day, time(), self.tz).astimezone(UTC)
