"""Reading source files: CSV and JSON Lines, plain or gzipped, one file after the other by name."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from zoneinfo import ZoneInfo

from tallyflow.errors import RowError, SourceError
from tallyflow.localtime import StampReader
from tallyflow.model import Reading
from tallyflow.schema import RowSchema

log = logging.getLogger(__name__)

FORMATS = ("csv", "jsonl")


@dataclass(frozen=True)
class Source:
    """Where readings come from. `path` may hold wildcards and is relative to the pipeline file."""

    name: str
    path: str
    format: str = "csv"
    delimiter: str = ";"
    encoding: str = "utf-8-sig"
    naive: str = "local"
    bad_rows: int = 0
    schema: RowSchema = field(default_factory=RowSchema)

    def files(self, base: Path) -> list[Path]:
        """All files of the source, by name. Raises SourceError if there are none."""
        found = sorted(base.glob(self.path))
        if not found:
            raise SourceError(f"source {self.name!r}: no file matches {self.path!r}")
        return found

    def digest(self, base: Path) -> str:
        """A fingerprint of everything the source holds right now."""
        digest = hashlib.sha256()
        for path in self.files(base):
            digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()

    def readings(self, base: Path, tz: ZoneInfo) -> dict[str, list[Reading]]:
        """Every reading by meter, in the order of the files. Raises SourceError above `bad_rows` bad rows."""
        stamps = StampReader(tz, self.naive)
        table: dict[str, list[Reading]] = {}
        rejected = 0
        for path in self.files(base):
            count = 0
            for origin, row in _rows(self, path):
                try:
                    reading = self.schema.reading(row, stamps, origin)
                except RowError as error:
                    rejected += 1
                    log.warning("%s: row left out: %s", origin, error)
                    continue
                if reading is None:
                    log.debug("%s: no value", origin)
                    continue
                table.setdefault(reading.meter, []).append(reading)
                count += 1
            log.info("%s: %d readings", path.name, count)
        if rejected > self.bad_rows:
            raise SourceError(f"source {self.name!r}: {rejected} bad rows, {self.bad_rows} are allowed")
        return table


def _rows(source: Source, path: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    """(`file:line`, row) for every row of a file."""
    read = {"csv": _csv_rows, "jsonl": _json_rows}[source.format]
    try:
        with _open(path, source.encoding) as file:
            for line, row in read(source, file):
                yield f"{path.name}:{line}", row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SourceError(f"{path.name}: cannot be read: {error}") from error


def _open(path: Path, encoding: str) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding=encoding, newline="")
    return path.open(encoding=encoding, newline="")


def _csv_rows(source: Source, file: IO[str]) -> Iterator[tuple[int, Mapping[str, object]]]:
    reader = csv.DictReader(file, delimiter=source.delimiter)
    for row in reader:
        yield reader.line_num, row


def _json_rows(source: Source, file: IO[str]) -> Iterator[tuple[int, Mapping[str, object]]]:
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise SourceError(f"source {source.name!r}: line {number} is not JSON: {error.msg}") from error
        if not isinstance(row, dict):
            raise SourceError(f"source {source.name!r}: line {number} is not a JSON object")
        yield number, row
