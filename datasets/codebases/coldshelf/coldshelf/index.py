"""Where the newest record of every key lies. Lives in memory and is rebuilt from the segments."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass


@dataclass(frozen=True)
class Location:
    """The place of a record: segment, offset and length, with what is needed to judge it unread."""

    segment: int
    offset: int
    length: int
    sequence: int
    expires_at: float | None = None


class Index:
    """Keys with their locations, in order, with the number of live bytes per segment.

    Not locked: the store that owns it does that.
    """

    def __init__(self) -> None:
        self._locations: dict[str, Location] = {}
        self._ordered: list[str] = []
        self._live: dict[int, int] = {}
        self._expiries: list[tuple[float, str]] = []

    def __len__(self) -> int:
        return len(self._locations)

    def get(self, key: str) -> Location | None:
        """Where a key lies."""
        return self._locations.get(key)

    def put(self, key: str, location: Location) -> None:
        """Set or replace the location of a key."""
        self._place(key, location)
        if location.expires_at is not None:
            heapq.heappush(self._expiries, (location.expires_at, key))

    def remove(self, key: str) -> bool:
        """Forget a key; says whether it was there."""
        location = self._locations.pop(key, None)
        if location is None:
            return False
        self._forget(location)
        del self._ordered[bisect_left(self._ordered, key)]
        return True

    def relocate(self, key: str, expected: Location, location: Location) -> bool:
        """Point a key to a copy of its record, unless it has moved on from `expected`."""
        if self._locations.get(key) != expected:
            return False
        self._place(key, location)
        return True

    def page(self, prefix: str, after: str | None, limit: int) -> list[str]:
        """At most `limit` keys with a prefix, in order, behind the key `after`."""
        start = bisect_left(self._ordered, prefix)
        if after is not None:
            start = max(start, bisect_right(self._ordered, after))
        found: list[str] = []
        for key in self._ordered[start : start + limit]:
            if not key.startswith(prefix):
                break
            found.append(key)
        return found

    def due(self, now: float) -> list[str]:
        """Keys whose time is over. Each is named once; whoever asks has to remove it."""
        keys: list[str] = []
        while self._expiries and self._expiries[0][0] <= now:
            expires_at, key = heapq.heappop(self._expiries)
            location = self._locations.get(key)
            if location is not None and location.expires_at == expires_at and key not in keys[-1:]:
                keys.append(key)
        return keys

    def live_bytes(self, segment: int) -> int:
        """Bytes of a segment that are still pointed to."""
        return self._live.get(segment, 0)

    def _place(self, key: str, location: Location) -> None:
        previous = self._locations.get(key)
        if previous is None:
            insort(self._ordered, key)
        else:
            self._forget(previous)
        self._locations[key] = location
        self._live[location.segment] = self._live.get(location.segment, 0) + location.length

    def _forget(self, location: Location) -> None:
        self._live[location.segment] -= location.length
        if not self._live[location.segment]:
            del self._live[location.segment]
