"""Namespaces: a store and its cache under a name, opened when they are first needed."""

from __future__ import annotations

import logging
import re
import threading
from pathlib import Path

from coldshelf.cache import ReadCache
from coldshelf.clock import Clock
from coldshelf.compaction import Compactor, Outcome
from coldshelf.config import NamespaceSettings, Settings
from coldshelf.errors import EntryNotFound, InvalidRequest, UnknownNamespace
from coldshelf.metrics import Metrics
from coldshelf.store import Store

NAME = re.compile(r"[a-z0-9][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*)*")
MAX_NAME = 100

log = logging.getLogger(__name__)


class Namespace:
    """Entries that belong together: one store, one cache, one set of settings."""

    def __init__(self, name: str, store: Store, settings: NamespaceSettings, compactor: Compactor, clock: Clock) -> None:
        self.name = name
        self.store = store
        self._settings = settings
        self._compactor = compactor
        self._clock = clock
        self._cache = ReadCache(clock, entries=settings.cache_entries, ttl=settings.cache_ttl)
        self._maintenance_wanted = False

    def get(self, key: str) -> bytes:
        """The value of a key, from the cache if it is there. Raises EntryNotFound."""
        cached = self._cache.get(key)
        if cached is not None:
            return cached
        stamp = self._cache.stamp(key)
        record = self.store.get(key)
        if record is None:
            raise EntryNotFound(f"nothing under {key!r} in {self.name}")
        self._cache.fill(key, record.value, stamp, record.expires_at)
        return record.value

    def put(self, key: str, value: bytes, ttl: float | None = None) -> int:
        """Write an entry; it lives for `ttl` seconds, or for what the namespace says, or for ever."""
        lifetime = self._settings.ttl if ttl is None else ttl
        expires_at = None if lifetime is None else self._clock.now() + lifetime
        sequence = self.store.put(key, value, expires_at)
        self._written(key)
        return sequence

    def delete(self, key: str) -> None:
        """Remove an entry. Raises EntryNotFound."""
        found = self.store.delete(key)
        self._written(key)
        if not found:
            raise EntryNotFound(f"nothing under {key!r} in {self.name}")

    def keys(self, prefix: str, after: str | None, limit: int) -> list[str]:
        """One page of keys in order."""
        return self.store.keys(prefix, after, limit)

    def maintain(self) -> Outcome:
        """Sweep what has expired and compact if that is due."""
        for key in self.store.sweep():
            self._written(key)
        if not self._maintenance_wanted:
            return Outcome()
        self._maintenance_wanted = False
        return self._compactor.run()

    def stats(self) -> dict[str, int]:
        """Numbers about this namespace."""
        segments = self.store.sealed()
        return {
            "entries": len(self.store),
            "cached": len(self._cache),
            "cache_hits": self._cache.hits,
            "cache_misses": self._cache.misses,
            "sealed_segments": len(segments),
            "sealed_bytes": sum(segment.size for segment in segments),
        }

    def close(self) -> None:
        """Close the files; what is cached is forgotten."""
        self.store.close()
        self._cache.clear()

    def _written(self, key: str) -> None:
        self._cache.invalidate(key)
        if not self._maintenance_wanted and self._compactor.due():
            self._maintenance_wanted = True


class Namespaces:
    """All namespaces under one data folder."""

    def __init__(self, settings: Settings, clock: Clock, metrics: Metrics) -> None:
        self._settings = settings
        self._clock = clock
        self._metrics = metrics
        self._open: dict[str, Namespace] = {}
        self._lock = threading.Lock()

    def create(self, name: str) -> Namespace:
        """The namespace of that name, made if it is not there yet. Raises InvalidRequest."""
        folder = self.folder(name)
        with self._lock:
            if name not in self._open:
                self._open[name] = self._load(name, folder)
            return self._open[name]

    def get(self, name: str) -> Namespace:
        """An existing namespace. Raises InvalidRequest or UnknownNamespace."""
        if not self.folder(name).is_dir():
            raise UnknownNamespace(f"no namespace {name}")
        return self.create(name)

    def names(self) -> list[str]:
        """The names of all namespaces on disk."""
        root = self._settings.data_dir
        if not root.is_dir():
            return []
        return sorted(entry.name for entry in root.iterdir() if entry.is_dir() and NAME.fullmatch(entry.name))

    def folder(self, name: str) -> Path:
        """Where a namespace lies; its name is checked. Raises InvalidRequest."""
        if len(name) > MAX_NAME or NAME.fullmatch(name) is None:
            raise InvalidRequest("a namespace is made of lower-case letters, digits and dashes, in parts joined by dots")
        return self._settings.data_dir / name

    def evict(self, name: str) -> None:
        """Close a namespace; the next use opens it anew."""
        with self._lock:
            namespace = self._open.pop(name, None)
        if namespace is not None:
            namespace.close()

    def close(self) -> None:
        """Close all."""
        for name in list(self._open):
            self.evict(name)

    def _load(self, name: str, folder: Path) -> Namespace:
        settings = self._settings.namespace(name)
        store = Store(
            folder,
            self._clock,
            segment_size=self._settings.segment_size,
            max_value=settings.max_value,
            fsync=self._settings.fsync,
        )
        compactor = Compactor(store, self._metrics, below=self._settings.compact_below, name=name)
        log.info("namespace %s opened", name)
        return Namespace(name, store, settings, compactor, self._clock)
