"""Timestamps as loggers write them, turned into UTC.

A stamp with an offset speaks for itself. One without is either UTC or the wall clock of the site, as the source says.
When clocks are put back, one hour of wall-clock stamps comes twice; which of the two is meant follows from the order
of the rows, because a meter never reports backwards.
"""

from __future__ import annotations

from datetime import datetime, timezone
from zoneinfo import ZoneInfo

from tallyflow.errors import RowError

UTC = timezone.utc
NAIVE = ("local", "utc")
_FORMATS = ("%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M")


class StampReader:
    """Reads the timestamps of one source, row by row in the order of its files."""

    def __init__(self, tz: ZoneInfo, naive: str = "local") -> None:
        self._tz = tz
        self._naive = naive
        self._latest: dict[str, datetime] = {}

    def read(self, meter: str, text: str) -> datetime:
        """The moment a row of `meter` speaks of, in UTC. Raises RowError."""
        stamp = _parse(meter, text)
        if stamp.tzinfo is not None:
            return stamp.astimezone(UTC)
        if self._naive == "utc":
            return stamp.replace(tzinfo=UTC)
        return self._on_wall_clock(meter, stamp)

    def _on_wall_clock(self, meter: str, stamp: datetime) -> datetime:
        first = stamp.replace(tzinfo=self._tz, fold=0).astimezone(UTC)
        second = stamp.replace(tzinfo=self._tz, fold=1).astimezone(UTC)
        latest = self._latest.get(meter)
        at = first
        if second > first and latest is not None and first <= latest:
            at = second
        self._latest[meter] = at
        return at


def _parse(meter: str, text: str) -> datetime:
    """ISO 8601, seconds since 1970, or day first with dots."""
    text = text.strip()
    if text.isdigit() and len(text) >= 9:
        return datetime.fromtimestamp(int(text), UTC)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        pass
    for pattern in _FORMATS:
        try:
            return datetime.strptime(text, pattern)
        except ValueError:
            continue
    raise RowError(f"{meter}: {text!r} is not a time")
