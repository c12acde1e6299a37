"""The form of an entry on disk.

A record is a header, the key in UTF-8, and the value. The checksum covers everything behind itself. Sequence numbers
rise with every write to a store: of two records with one key, the higher number is the newer.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import BinaryIO

from coldshelf.errors import CorruptRecord

CHECKSUM = struct.Struct(">I")
HEADER = struct.Struct(">BQdHI")  # flags, sequence, expiry, length of the key, length of the value
DELETED = 0x01
EXPIRES = 0x02
MAX_KEY = 0xFFFF


class TornRecord(CorruptRecord):
    """A record whose end is missing, as after a crash in the middle of a write."""


@dataclass(frozen=True)
class Record:
    """One write: a value, or (`deleted`) the statement that there is none any more."""

    sequence: int
    key: str
    value: bytes = b""
    expires_at: float | None = None
    deleted: bool = False

    def expired(self, now: float) -> bool:
        """Whether its time is over."""
        return self.expires_at is not None and self.expires_at <= now


def encode(record: Record) -> bytes:
    """The bytes of a record."""
    key = record.key.encode("utf-8")
    flags = (DELETED if record.deleted else 0) | (EXPIRES if record.expires_at is not None else 0)
    header = HEADER.pack(flags, record.sequence, record.expires_at or 0.0, len(key), len(record.value))
    body = header + key + record.value
    return CHECKSUM.pack(zlib.crc32(body)) + body


def read_record(stream: BinaryIO, where: str) -> Record | None:
    """The next record of a stream, None at its end.

    Raises TornRecord if the stream ends inside the record, CorruptRecord if the checksum does not fit.
    """
    start = stream.read(CHECKSUM.size + HEADER.size)
    if not start:
        return None
    if len(start) < CHECKSUM.size + HEADER.size:
        raise TornRecord(f"{where}: the file ends inside a header")
    (checksum,) = CHECKSUM.unpack_from(start)
    flags, sequence, expiry, key_length, value_length = HEADER.unpack_from(start, CHECKSUM.size)
    payload = stream.read(key_length + value_length)
    if len(payload) < key_length + value_length:
        raise TornRecord(f"{where}: the file ends inside a record")
    if zlib.crc32(payload, zlib.crc32(start[CHECKSUM.size :])) != checksum:
        raise CorruptRecord(f"{where}: checksum mismatch")
    return Record(
        sequence=sequence,
        key=payload[:key_length].decode("utf-8"),
        value=payload[key_length:],
        expires_at=expiry if flags & EXPIRES else None,
        deleted=bool(flags & DELETED),
    )
