"""A small in-process cache with a time to live."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")

log = logging.getLogger(__name__)


class TtlCache(Generic[V]):
    """Keeps at most `entries` values, each for `seconds`; the oldest goes first."""

    def __init__(self, seconds: float, entries: int, clock: Callable[[], float]) -> None:
        self._seconds = seconds
        self._entries = entries
        self._clock = clock
        self._values: OrderedDict[Hashable, tuple[float, V]] = OrderedDict()
        self._lock = threading.Lock()
        self.hits = 0
        self.misses = 0

    def get_or_load(self, key: Hashable, load: Callable[[], V]) -> V:
        """Return the cached value, or load and keep it. What `load` raises is not cached."""
        with self._lock:
            entry = self._values.get(key)
            if entry is not None and entry[0] > self._clock():
                self.hits += 1
                return entry[1]
            self.misses += 1
        value = load()
        self._put(key, value)
        return value

    def discard(self, key: Hashable) -> None:
        """Forget one key; unknown keys are fine."""
        with self._lock:
            self._values.pop(key, None)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()

    def _put(self, key: Hashable, value: V) -> None:
        if self._seconds <= 0 or self._entries <= 0:
            return
        with self._lock:
            self._values[key] = (self._clock() + self._seconds, value)
            self._values.move_to_end(key)
            while len(self._values) > self._entries:
                dropped, _ = self._values.popitem(last=False)
                log.debug("cache full, dropped %r", dropped)
