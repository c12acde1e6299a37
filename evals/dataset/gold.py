"""Where a bug was put, read off the code itself: gold is derived, never typed by hand.

A touched line belongs to the outermost function or class around it: a nested function to the one it stands in, a
method to its class. Lines outside any definition name their file only.
"""

import ast
import difflib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from evals.models.case import Gold

Lines = tuple[str, ...]


def derive_gold(clean: Path, patched: Path) -> Gold:
    """Files and outermost definitions (`path::name`) that differ between two source trees, sorted.

    Removed lines are looked up in the clean source, added ones in the patched. Raises SyntaxError for sources that do
    not parse.
    """
    files = sorted(name for name in _names(clean) | _names(patched) if _lines(clean / name) != _lines(patched / name))
    functions = {f"{name}::{definition}" for name in files for definition in _touched(clean / name, patched / name)}
    return Gold(files=tuple(files), functions=tuple(sorted(functions)))


def _touched(clean: Path, patched: Path) -> set[str]:
    if clean.suffix != ".py":
        return set()
    before, after = _lines(clean), _lines(patched)
    changes = [
        change
        for change in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        if change[0] != "equal"
    ]
    removed = (number for _, start, end, _, _ in changes for number in range(start, end))
    added = (number for _, _, _, start, end in changes for number in range(start, end))
    return set(_around(before, removed)) | set(_around(after, added))


def _around(lines: Lines, touched: Iterable[int]) -> Iterator[str]:
    """Names of the outermost definitions around lines (counted from 0) that hold anything at all."""
    spans = definitions("\n".join(lines))
    for number in touched:
        if lines[number].strip():
            yield from (name for name, first, last in spans if first <= number + 1 <= last)


@lru_cache(32)
def definitions(source: str) -> tuple[tuple[str, int, int], ...]:
    """The outermost: name, first line (decorators included) and last line, counted from 1. Kept, since each function of
    the gold is looked up in the same few files. Raises SyntaxError."""
    return tuple(
        (node.name, min([node.lineno, *(each.lineno for each in node.decorator_list)]), node.end_lineno or node.lineno)
        for node in _outermost(ast.parse(source))
    )


def outermost_names(path: Path) -> frozenset[str]:
    """The definitions of a source file that stand in no other; none where it is no Python that parses."""
    try:
        return frozenset(name for name, _, _ in definitions("\n".join(_lines(path))))
    except (SyntaxError, ValueError):
        return frozenset()


def _outermost(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Definitions that stand in no other, also those under a module-level `if` or `try`."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield child
        else:
            yield from _outermost(child)


def _names(tree: Path) -> set[str]:
    found = (path for path in tree.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(tree).as_posix() for path in found}


def _lines(path: Path) -> Lines:
    """A file that is not there has no lines; undecodable bytes still compare."""
    text = path.read_text(encoding="utf-8", errors="surrogateescape") if path.exists() else ""
    return tuple(text.split("\n"))
