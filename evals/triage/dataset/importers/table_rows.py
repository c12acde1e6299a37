"""Rows of a table in JSON Lines, JSON, CSV or Parquet."""

import csv
import io
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.errors import DatasetError

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """One row, and where it stands in its file, counted from 1: `3` is a line, `row 3` may span several."""

    where: str
    fields: Fields


@dataclass(frozen=True)
class BadRow:
    """A row that is no mapping of names to values."""

    where: str
    why: str


def read_rows(path: Path) -> Iterator[Row | BadRow]:
    """The rows of a file, in order.

    Raises:
        DatasetError: there is no such file, it is not UTF-8, it is empty, it is no JSON as a whole, or it is Parquet
            and there is no reader for that.
    """
    if not path.exists() or path.is_dir():  # a pipe such as /dev/stdin is no regular file, and welcome
        raise DatasetError(f"{path}: there is no such file")
    if path.suffix == ".parquet":
        return _parquet(path)
    text = _text(path)
    if not text.strip():
        raise DatasetError(f"{path}: is empty; there is nothing to read in it")
    if path.suffix == ".csv":
        return _csv(text)
    if path.suffix == ".json" or text.lstrip().startswith("["):
        return _json(path, text)
    return _json_lines(text)


def text_in(fields: Fields, key: str) -> str:
    """The text under `key` with plain line ends; empty if there is none."""
    value = fields.get(key)
    return value.replace("\r\n", "\n") if isinstance(value, str) else ""


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path}: cannot be read as UTF-8 text: {error}") from error


def _json(path: Path, text: str) -> Iterator[Row | BadRow]:
    try:
        read = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        if path.suffix != ".json" or (line > 1 and text.lstrip().startswith("{")):  # JSON Lines under another name
            return _json_lines(text)
        raise DatasetError(f"{path}:{line}: is not JSON: {error}") from error
    rows = read if isinstance(read, list) else [read]
    return (_row(f"row {number}", item) for number, item in enumerate(rows, 1))


def _json_lines(text: str) -> Iterator[Row | BadRow]:
    for number, line in enumerate(text.split("\n"), 1):  # not splitlines: U+2028 may stand inside a string
        if not line.strip():
            continue
        try:
            yield _row(str(number), json.loads(line))
        except (ValueError, RecursionError) as error:
            yield BadRow(str(number), f"is not JSON: {error}")


def _row(where: str, item: object) -> Row | BadRow:
    return Row(where, item) if isinstance(item, dict) else BadRow(where, f"is a {type(item).__name__}, no object")


def _csv(text: str) -> Iterator[Row | BadRow]:
    csv.field_size_limit(sys.maxsize)  # patches are longer than the 128 kB the library thinks enough
    reader = csv.DictReader(io.StringIO(text, newline=""))
    for number, fields in enumerate(reader, 1):
        whole = None not in fields and None not in fields.values()
        where = f"row {number}"
        yield Row(where, fields) if whole else BadRow(where, "has another number of columns than the first line")


def _parquet(path: Path) -> Iterator[Row | BadRow]:
    import pandas  # noqa: PLC0415, ICN001 - 0.5 s that no other format pays

    try:
        table = pandas.read_parquet(path)
    except ImportError as error:
        raise DatasetError(
            f"{path}: pyarrow is not installed; pip install 'triage-evals[parquet]', or save the rows as JSON Lines"
        ) from error
    except Exception as error:
        raise DatasetError(f"{path}: is no Parquet file that can be read: {error}") from error
    rows = ({str(name): row[name] for name in row.index if row[name] is not None} for _, row in table.iterrows())
    return (Row(f"row {number}", fields) for number, fields in enumerate(rows, 1))
