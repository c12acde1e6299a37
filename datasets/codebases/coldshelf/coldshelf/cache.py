"""A read cache: least recently used goes first, nothing stays longer than its time to live.

A reader that has missed loads the value itself and brings it in with `fill`. In between somebody may have written the
same key; the stamp a reader takes tells the cache whether what it brings is still good.
"""

from __future__ import annotations

import threading
import zlib
from collections import OrderedDict
from dataclasses import dataclass

from coldshelf.clock import Clock

STRIPES = 256


@dataclass(frozen=True)
class Cached:
    """A value with the time until which it may be served."""

    value: bytes
    until: float


class ReadCache:
    """At most `entries` values, each for at most `ttl` seconds. Safe to use from several threads."""

    def __init__(self, clock: Clock, *, entries: int, ttl: float) -> None:
        self._clock = clock
        self._entries = entries
        self._ttl = ttl
        self._values: OrderedDict[str, Cached] = OrderedDict()
        self._stamps = [0] * STRIPES
        self._lock = threading.Lock()
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        with self._lock:
            return len(self._values)

    def get(self, key: str) -> bytes | None:
        """The cached value, None on a miss."""
        with self._lock:
            cached = self._values.get(key)
            if cached is None or cached.until <= self._clock.now():
                self._values.pop(key, None)
                self.misses += 1
                return None
            self._values.move_to_end(key)
            self.hits += 1
            return cached.value

    def stamp(self, key: str) -> int:
        """A number that changes whenever the key, or one in its stripe, is invalidated."""
        with self._lock:
            return self._stamps[_stripe(key)]

    def fill(self, key: str, value: bytes, stamp: int, expires_at: float | None = None) -> bool:
        """Keep a value that was loaded after `stamp` was taken; refused if the key was invalidated since."""
        with self._lock:
            if self._entries <= 0 or self._stamps[_stripe(key)] != stamp:
                return False
            until = self._clock.now() + self._ttl
            self._values[key] = Cached(value, until if expires_at is None else min(until, expires_at))
            self._values.move_to_end(key)
            while len(self._values) > self._entries:
                self._values.popitem(last=False)
            return True

    def invalidate(self, key: str) -> None:
        """Forget a key, and refuse values for it that are being loaded right now."""
        with self._lock:
            self._stamps[_stripe(key)] += 1
            self._values.pop(key, None)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._stamps = [stamp + 1 for stamp in self._stamps]
            self._values.clear()


def _stripe(key: str) -> int:
    return zlib.crc32(key.encode("utf-8")) % STRIPES
