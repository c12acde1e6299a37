"""Gold files and functions, derived from the code by AST."""

import ast
import difflib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from evals.triage.case_file import Gold
from triage.codebase.grammars import grammar_of
from triage.codebase.symbols import Fallback, definitions_of

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
    if clean.suffix != ".py" and grammar_of(clean.name) is None:
        return set()
    before, after = _lines(clean), _lines(patched)
    changes = [
        change
        for change in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        if change[0] != "equal"
    ]
    removed = (number for _, start, end, _, _ in changes for number in range(start, end))
    added = (number for _, _, _, start, end in changes for number in range(start, end))
    return set(_around(clean.name, before, removed)) | set(_around(clean.name, after, added))


def _around(name: str, lines: Lines, touched: Iterable[int]) -> Iterator[str]:
    """Names of the outermost definitions around lines (counted from 0) that hold anything at all."""
    spans = _definitions_in(name, "\n".join(lines))
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
    """The definitions of a source file that stand in no other; none where it cannot be parsed."""
    try:
        return frozenset(name for name, _, _ in _definitions_in(path.name, "\n".join(_lines(path))))
    except (SyntaxError, ValueError):
        return frozenset()


def _definitions_in(name: str, source: str) -> tuple[tuple[str, int, int], ...]:
    """As `definitions`, in the language of a file of this name. Outside of Python a definition counts under the first
    part of its dotted name: a Go method under its type. A file that is cut by lines has none."""
    grammar = grammar_of(name)
    if grammar is None:
        return definitions(source)
    found = definitions_of(source.encode("utf-8", "replace").decode(), grammar)
    if isinstance(found, Fallback):
        return ()
    return tuple((one.name.partition(".")[0], one.start, one.end) for one in found)


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


SymbolDefinition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
CONSTRUCTOR = "__init__"


class DefinitionSpan(NamedTuple):
    """A definition by its dotted name, from its first decorator to its last line (from 1, both included)."""

    name: str
    first: int
    last: int


class Edited(NamedTuple):
    """Definitions a fix edited, sorted: outermost ones (`path::Class`), and by their whole names
    (`path::Class.method`), a constructor as its class and a nested function as the one it stands in."""

    functions: tuple[str, ...]
    whole_names: tuple[str, ...]


def edited(files: Mapping[str, tuple[str, str]]) -> Edited:
    """Of files by their path before the fix, each as (text before, text after), "" where it is gone.

    A file that is no Python, or does not parse on a side, names no function.
    """
    found = {
        f"{path}::{name}" for path, texts in files.items() if path.endswith(".py") for name in _names_edited(*texts)
    }
    outermost = {f"{path}::{name.partition('.')[0]}" for path, _, name in (one.partition("::") for one in found)}
    return Edited(tuple(sorted(outermost)), tuple(sorted(found)))


def _names_edited(before: str, after: str) -> set[str]:
    """Whole names of what a change touched: removed lines looked up in the text before, added ones in that after."""
    try:
        old, new = (list(_spans(ast.parse(text).body)) for text in (before, after))
    except (SyntaxError, ValueError):
        return set()
    lines, others = before.split("\n"), after.split("\n")
    changes = difflib.SequenceMatcher(None, lines, others, autojunk=False).get_opcodes()
    removed = (n for kind, start, end, _, _ in changes if kind != "equal" for n in range(start, end))
    added = (n for kind, _, _, start, end in changes if kind != "equal" for n in range(start, end))
    touched = {*_around_edited(old, lines, removed), *_around_edited(new, others, added)}
    return touched & {span.name for span in old}


def _around_edited(spans: list[DefinitionSpan], lines: list[str], numbers: Iterable[int]) -> Iterator[str]:
    """The innermost span around each line (counted from 0) that holds anything at all."""
    for number in numbers:
        if lines[number].strip():
            around = [span for span in spans if span.first <= number + 1 <= span.last]
            if around:
                yield max(around, key=lambda span: span.first).name


def _spans(body: Iterable[ast.AST], outer: str = "") -> Iterator[DefinitionSpan]:
    """Functions and classes, also those under an `if` or `try`; methods of classes, but nothing inside of a function.
    A constructor is a span of its class's name."""
    for node in body:
        if not isinstance(node, SymbolDefinition):
            yield from _spans(ast.iter_child_nodes(node), outer)
            continue
        name = f"{outer}.{node.name}" if outer and node.name != CONSTRUCTOR else outer or node.name
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        yield DefinitionSpan(name, first, node.end_lineno or node.lineno)
        if isinstance(node, ast.ClassDef):
            yield from _spans(node.body, name)
