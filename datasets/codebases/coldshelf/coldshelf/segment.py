"""One append-only file of records."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from coldshelf.errors import CorruptRecord
from coldshelf.record import Record, TornRecord, encode, read_record

SUFFIX = ".seg"

log = logging.getLogger(__name__)


class Segment:
    """A file of records; one thread appends, any number read.

    `size` counts bytes, `tombstone_bytes` those of deletions among them, and `first_sequence` is the lowest sequence
    number inside (None while the file is empty).
    """

    def __init__(self, folder: Path, number: int) -> None:
        self.number = number
        self.path = folder / f"{number:08d}{SUFFIX}"
        self.size = 0
        self.tombstone_bytes = 0
        self.first_sequence: int | None = None
        self._lock = threading.Lock()
        self._file: BinaryIO = self.path.open("a+b", buffering=0)

    def append(self, record: Record, *, fsync: bool) -> tuple[int, int]:
        """Write a record at the end; returns its offset and length."""
        data = encode(record)
        with self._lock:
            offset = self.size
            self._file.seek(0, os.SEEK_END)
            self._file.write(data)
            if fsync:
                os.fsync(self._file.fileno())
            self._note(record, len(data))
        return offset, len(data)

    def read(self, offset: int) -> Record:
        """The record at an offset. Raises CorruptRecord."""
        with self._lock:
            self._file.seek(offset)
            record = read_record(self._file, f"{self.path.name}@{offset}")
        if record is None:
            raise CorruptRecord(f"{self.path.name}@{offset}: no record there")
        return record

    def scan(self) -> Iterator[tuple[int, int, Record]]:
        """All records with their offsets and lengths, in the order they were written."""
        with self.path.open("rb") as stream:
            while True:
                offset = stream.tell()
                record = read_record(stream, f"{self.path.name}@{offset}")
                if record is None:
                    return
                yield offset, stream.tell() - offset, record

    def recover(self) -> Iterator[tuple[int, int, Record]]:
        """Like `scan` for a file just opened: takes stock of it on the way and cuts off a torn end."""
        try:
            for offset, length, record in self.scan():
                self._note(record, length)
                yield offset, length, record
        except TornRecord as error:
            log.warning("%s; cutting the file off at %d bytes", error, self.size)
            self._file.truncate(self.size)

    def sync(self) -> None:
        """See to it that everything written so far survives a loss of power."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file. Closing twice is fine."""
        with self._lock:
            self._file.close()

    def remove(self) -> None:
        """Close the file and delete it."""
        self.close()
        self.path.unlink(missing_ok=True)

    def _note(self, record: Record, length: int) -> None:
        self.size += length
        if record.deleted:
            self.tombstone_bytes += length
        if self.first_sequence is None or record.sequence < self.first_sequence:
            self.first_sequence = record.sequence


def segment_numbers(folder: Path) -> list[int]:
    """Numbers of the segments in a folder, ascending."""
    return sorted(int(path.stem) for path in folder.glob(f"*{SUFFIX}"))
