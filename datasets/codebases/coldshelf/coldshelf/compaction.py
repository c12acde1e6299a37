"""Gives back the space of entries that were overwritten or deleted.

Sealed segments in which little is alive are copied into one new segment, record by record, while reads and writes go
on. The copies keep their sequence numbers, so the order of files never matters.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from coldshelf.index import Location
from coldshelf.metrics import Metrics
from coldshelf.record import Record
from coldshelf.segment import Segment
from coldshelf.store import Store

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """What a compaction did."""

    segments: int = 0
    kept: int = 0
    dropped: int = 0
    freed_bytes: int = 0


class Compactor:
    """Compacts one store when the live share of a sealed segment falls below a threshold."""

    def __init__(self, store: Store, metrics: Metrics, *, below: float, name: str) -> None:
        self._store = store
        self._metrics = metrics
        self._below = below
        self._name = name

    def due(self) -> bool:
        """Whether there is anything to compact. Cheap: asked after every write."""
        return any(self._is_worth_it(segment) for segment in self._store.sealed())

    def run(self) -> Outcome:
        """Compact all segments that are worth it, if nobody else is at it."""
        if not self._store.maintenance.acquire(blocking=False):
            return Outcome()
        try:
            batch = [segment for segment in self._store.sealed() if self._is_worth_it(segment)]
            return self._rewrite(batch) if batch else Outcome()
        finally:
            self._store.maintenance.release()

    def _is_worth_it(self, segment: Segment) -> bool:
        """Deletions count as alive here: whether one may go depends on other segments."""
        if not segment.size:
            return True
        used = self._store.live_bytes(segment) + segment.tombstone_bytes
        return used / segment.size < self._below

    def _rewrite(self, batch: Sequence[Segment]) -> Outcome:
        target = self._store.open_segment()
        before = sum(segment.size for segment in batch)
        oldest_elsewhere = self._store.oldest_sequence(leaving_out=batch)
        moved: dict[str, tuple[Location, Location]] = {}
        kept = dropped = 0
        for segment in batch:
            for offset, length, record in segment.scan():
                if not self._is_needed(record, oldest_elsewhere):
                    dropped += 1
                    continue
                kept += 1
                new_offset, _ = target.append(record, fsync=False)
                if not record.deleted:
                    old = Location(segment.number, offset, length, record.sequence, record.expires_at)
                    new = Location(target.number, new_offset, length, record.sequence, record.expires_at)
                    moved[record.key] = (old, new)
        target.sync()
        self._store.adopt(target, moved, list(batch))
        return self._report(Outcome(len(batch), kept, dropped, before - target.size))

    def _is_needed(self, record: Record, oldest_elsewhere: int | None) -> bool:
        """Current entries are; a deletion is as long as some other segment may hold what it deletes."""
        if record.deleted:
            return oldest_elsewhere is not None and oldest_elsewhere < record.sequence
        return self._store.is_current(record.key, record.sequence)

    def _report(self, outcome: Outcome) -> Outcome:
        self._metrics.count("compactions", namespace=self._name)
        self._metrics.count("compacted_bytes", outcome.freed_bytes, namespace=self._name)
        log.info(
            "%s: compacted %d segments, kept %d records, dropped %d, freed %d bytes",
            self._name,
            outcome.segments,
            outcome.kept,
            outcome.dropped,
            outcome.freed_bytes,
        )
        return outcome
