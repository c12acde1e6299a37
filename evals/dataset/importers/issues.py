"""One issue per row of a file: what is common to the readers whose source is a table."""

from collections.abc import Callable, Iterator
from pathlib import Path

from evals.dataset.importers.found import Issue, Refused, RefusedRowError
from evals.dataset.importers.rows import BadRow, Fields, read_rows, text_in

Reader = Callable[[str, Fields], Issue]
"""Takes where the row stands, and the row; may raise RefusedRowError."""


def issues_in(path: Path, read_issue: Reader) -> Iterator[Issue | Refused]:
    """What `read_issue` makes of each row. Raises DatasetError where no row can be read at all."""
    for row in read_rows(path):
        if isinstance(row, BadRow):
            yield Refused(row.where, "", row.why)
            continue
        try:
            yield read_issue(row.where, row.fields)
        except RefusedRowError as refusal:
            yield Refused(row.where, text_in(row.fields, "instance_id"), str(refusal))


def required(fields: Fields, key: str) -> str:
    """The text under `key`, edges trimmed of blank lines. Raises RefusedRowError if there is none."""
    text = text_in(fields, key).strip("\n")
    if not text.strip():
        raise RefusedRowError(f"has no {key}")
    return text
