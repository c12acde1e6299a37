"""A plain table: a caption, headings, rows of ready cells. The first cell of a row is its heading."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """As many cells per row as there are headings."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
