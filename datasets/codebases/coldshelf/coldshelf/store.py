"""The entries of one namespace on disk: segments, the index over them, and the one lock that guards both."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection
from pathlib import Path

from coldshelf.clock import Clock
from coldshelf.errors import EntryTooLarge, InvalidRequest, ShelfClosed
from coldshelf.index import Index, Location
from coldshelf.record import MAX_KEY, Record
from coldshelf.segment import Segment, segment_numbers

log = logging.getLogger(__name__)


class Store:
    """An append-only store in a folder of its own.

    Writes go to the active segment; full segments are sealed and only read from then on. Opening reads every segment
    once and keeps, for each key, the record with the highest sequence number.
    """

    def __init__(self, folder: Path, clock: Clock, *, segment_size: int, max_value: int, fsync: bool) -> None:
        self.folder = folder
        self.maintenance = threading.Lock()  # one compaction or snapshot at a time
        self._clock = clock
        self._segment_size = segment_size
        self._max_value = max_value
        self._fsync = fsync
        self._lock = threading.RLock()
        self._index = Index()
        self._segments: dict[int, Segment] = {}
        self._sequence = 0
        self._closed = False
        folder.mkdir(parents=True, exist_ok=True)
        self._recover()
        self._active = self._new_segment()

    def __len__(self) -> int:
        with self._lock:
            return len(self._index)

    def put(self, key: str, value: bytes, expires_at: float | None = None) -> int:
        """Write an entry; returns its sequence number. Raises InvalidRequest or EntryTooLarge."""
        if not 0 < len(key.encode("utf-8")) <= MAX_KEY:
            raise InvalidRequest("a key has between 1 and 65535 bytes")
        if len(value) > self._max_value:
            raise EntryTooLarge(f"{len(value)} bytes, at most {self._max_value} are allowed here")
        with self._lock:
            self._require_open()
            record = Record(self._next_sequence(), key, value, expires_at)
            self._index.put(key, self._append(record))
            return record.sequence

    def get(self, key: str) -> Record | None:
        """The live entry of a key. Raises CorruptRecord if its bytes have changed on disk."""
        with self._lock:
            self._require_open()
            location = self._index.get(key)
            if location is None:
                return None
            record = self._segments[location.segment].read(location.offset)
        return None if record.expired(self._clock.now()) else record

    def delete(self, key: str) -> bool:
        """Remove an entry; says whether there was one."""
        with self._lock:
            self._require_open()
            if self._index.get(key) is None:
                return False
            self._append(Record(self._next_sequence(), key, deleted=True))
            return self._index.remove(key)

    def keys(self, prefix: str = "", after: str | None = None, limit: int = 100) -> list[str]:
        """At most `limit` keys with a prefix, in order, behind the key `after`."""
        with self._lock:
            self._require_open()
            return self._index.page(prefix, after, limit)

    def sweep(self) -> list[str]:
        """Delete the entries whose time is over; returns their keys."""
        with self._lock:
            self._require_open()
            return [key for key in self._index.due(self._clock.now()) if self.delete(key)]

    def roll(self) -> int:
        """Seal the active segment, unless it is empty, and start a new one; returns the number of entries."""
        with self._lock:
            self._require_open()
            if self._active.size:
                self._active = self._new_segment()
            return len(self._index)

    def sealed(self) -> list[Segment]:
        """The segments nobody writes to any more, oldest number first."""
        with self._lock:
            return [segment for number, segment in sorted(self._segments.items()) if segment is not self._active]

    def live_bytes(self, segment: Segment) -> int:
        """Bytes of a segment that hold current entries."""
        with self._lock:
            return self._index.live_bytes(segment.number)

    def oldest_sequence(self, leaving_out: Collection[Segment]) -> int | None:
        """The lowest sequence number in all segments but those; None if nothing is in them."""
        with self._lock:
            firsts = [segment.first_sequence for segment in self._segments.values() if segment not in leaving_out]
        return min((first for first in firsts if first is not None), default=None)

    def is_current(self, key: str, sequence: int) -> bool:
        """Whether the record with this number is the live one of its key."""
        with self._lock:
            location = self._index.get(key)
            return location is not None and location.sequence == sequence

    def open_segment(self) -> Segment:
        """A new segment that is neither active nor known to readers yet; `adopt` makes it so."""
        with self._lock:
            self._require_open()
            return Segment(self.folder, self._free_number())

    def adopt(self, segment: Segment, moved: dict[str, tuple[Location, Location]], retired: list[Segment]) -> None:
        """Put a rewritten segment in the place of the retired ones, in one step; an empty one is thrown away.

        `moved` says for each copied key where it was and where its copy is; a key written in the meantime stays with
        what was written.
        """
        with self._lock:
            self._require_open()
            if segment.size:
                self._segments[segment.number] = segment
            else:
                segment.remove()
            for key, (before, after) in moved.items():
                self._index.relocate(key, before, after)
            for old in retired:
                del self._segments[old.number]
                old.remove()

    def close(self) -> None:
        """Close all files. Closing twice is fine."""
        with self._lock:
            self._closed = True
            for segment in self._segments.values():
                segment.close()
            if not self._active.size:
                self._active.remove()

    def _append(self, record: Record) -> Location:
        if self._active.size >= self._segment_size:
            self.roll()
        offset, length = self._active.append(record, fsync=self._fsync)
        return Location(self._active.number, offset, length, record.sequence, record.expires_at)

    def _recover(self) -> None:
        newest: dict[str, int] = {}
        for number in segment_numbers(self.folder):
            segment = Segment(self.folder, number)
            self._segments[number] = segment
            for offset, length, record in segment.recover():
                self._sequence = max(self._sequence, record.sequence)
                if record.sequence <= newest.get(record.key, 0):
                    continue
                newest[record.key] = record.sequence
                if record.deleted:
                    self._index.remove(record.key)
                else:
                    location = Location(number, offset, length, record.sequence, record.expires_at)
                    self._index.put(record.key, location)
        log.info("%s: %d entries in %d segments", self.folder.name, len(self._index), len(self._segments))

    def _new_segment(self) -> Segment:
        segment = Segment(self.folder, self._free_number())
        self._segments[segment.number] = segment
        return segment

    def _free_number(self) -> int:
        taken = [*self._segments, *segment_numbers(self.folder)]
        return max(taken, default=0) + 1

    def _next_sequence(self) -> int:
        self._sequence += 1
        return self._sequence

    def _require_open(self) -> None:
        if self._closed:
            raise ShelfClosed(f"{self.folder.name} is closed")
