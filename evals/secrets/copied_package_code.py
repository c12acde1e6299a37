"""Detection of code copied from a released package."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from evals.cassettes.package_line_references import SourceTree, telling_lines
from evals.cassettes.request_key import parse_json

ROW: Final = 6
"""Telling lines in a row that make a copy; blanks around a line, and lines that say nothing, do not count."""


def quoted(value: Any, tree: SourceTree, row: int = ROW) -> str | None:  # noqa: ANN401 - JSON
    """The file that a text somewhere in this JSON copies `row` lines of; None if there is none."""
    rows = _rows(tree, row)
    for text in _texts(value):
        lines = telling_lines(text)
        for at in range(len(lines) - row + 1):
            if found := rows.get(lines[at : at + row]):
                return found
    return None


@lru_cache(16)
def _rows(tree: SourceTree, row: int) -> Mapping[tuple[str, ...], str]:
    return {
        lines[at : at + row]: path for path, lines in tree.telling.items() for at in range(len(lines) - row + 1)
    }  # fmt: skip


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    """Every text in it; one that is JSON itself, as a structured answer is, is looked into."""
    if isinstance(value, str):
        try:
            inner = parse_json(value) if value[:1] in {"{", "["} else None
        except ValueError:
            inner = None
        if inner is None:
            yield value
        else:
            yield from _texts(inner)
    elif isinstance(value, dict):
        for member in value.values():
            yield from _texts(member)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
