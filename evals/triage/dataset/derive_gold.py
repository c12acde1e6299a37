"""Gold files and functions, derived from the code by AST."""

import ast
import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from evals.triage.dataset.dataset_layout import Gold
from triage.codebase.symbols import definitions_of, grammar_of

Lines = tuple[str, ...]
SymbolDefinition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
CONSTRUCTOR = "__init__"


class DefinitionSpan(NamedTuple):
    """A definition by its dotted name, from its first decorator to its last line (from 1, both included)."""

    name: str
    first: int
    last: int


def derive_gold(clean: Path, patched: Path) -> Gold:
    """Files and outermost definitions (`path::name`) that differ between two source trees, sorted.

    Removed lines are looked up in the clean source, added ones in the patched. Raises SyntaxError for sources that do
    not parse.
    """
    both = _names(clean) | _names(patched)
    files = sorted(name for name in both if lines_of(clean / name) != lines_of(patched / name))
    functions = {f"{name}::{definition}" for name in files for definition in _touched(clean / name, patched / name)}
    return Gold(files=tuple(files), functions=tuple(sorted(functions)))


def _touched(clean: Path, patched: Path) -> set[str]:
    if clean.suffix != ".py" and grammar_of(clean.name) is None:
        return set()
    sides = [lines_of(path) for path in (clean, patched)]
    spans = [_definitions_in(clean.name, "\n".join(lines)) for lines in sides]
    return _around(sides, spans)


def _around(sides: Sequence[Sequence[str]], spans: Sequence[Sequence[DefinitionSpan]]) -> set[str]:
    """Names of the innermost definitions around lines that hold anything at all and differ between two sides: removed
    lines are looked up in the definitions of the first side, added ones in those of the second."""
    changes = difflib.SequenceMatcher(None, sides[0], sides[1], autojunk=False).get_opcodes()
    found = set()
    for kind, *ends in changes:
        for lines, known, (start, end) in zip(sides, spans, (ends[:2], ends[2:]), strict=True):
            for number in range(start, end) if kind != "equal" else ():
                around = [span for span in known if lines[number].strip() and span.first <= number + 1 <= span.last]
                found |= {max(around, key=lambda span: span.first).name} if around else set()
    return found


@lru_cache(32)
def definitions(source: str) -> tuple[DefinitionSpan, ...]:
    """The outermost ones of a Python source. Kept, since each function of the gold is looked up in the same few files.
    Raises SyntaxError."""
    return tuple(_spans(ast.parse(source).body, nested=False))


def outermost_names(path: Path) -> frozenset[str]:
    """What `outermost_definitions` are called."""
    return frozenset(span.name for span in outermost_definitions(path))


def outermost_definitions(path: Path) -> tuple[DefinitionSpan, ...]:
    """The definitions of a source file that stand in no other; none where it cannot be parsed."""
    try:
        return _definitions_in(path.name, "\n".join(lines_of(path)))
    except (SyntaxError, ValueError):
        return ()


def _definitions_in(name: str, source: str) -> tuple[DefinitionSpan, ...]:
    """As `definitions`, in the language of a file of this name. Outside of Python a definition counts under the first
    part of its dotted name: a Go method under its type. A file that is cut by lines has none."""
    grammar = grammar_of(name)
    if grammar is None:
        return definitions(source)
    found = definitions_of(source.encode("utf-8", "replace").decode(), grammar)
    return tuple(DefinitionSpan(one.name.partition(".")[0], one.start, one.end) for one in found or ())


def _names(tree: Path) -> set[str]:
    found = (path for path in tree.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(tree).as_posix() for path in found}


def lines_of(path: Path) -> Lines:
    """A file that is not there has no lines; undecodable bytes still compare."""
    text = path.read_text(encoding="utf-8", errors="surrogateescape") if path.exists() else ""
    return tuple(text.split("\n"))


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


def _names_edited(*sides: str) -> set[str]:
    """Whole names of what a change touched and what was there before it."""
    try:
        spans = [tuple(_spans(ast.parse(text).body)) for text in sides]
    except (SyntaxError, ValueError):
        return set()
    return _around([text.split("\n") for text in sides], spans) & {span.name for span in spans[0]}


def _spans(body: Iterable[ast.AST], outer: str = "", *, nested: bool = True) -> Iterator[DefinitionSpan]:
    """Functions and classes, also those under an `if` or `try`; where `nested` ones are wanted the methods of classes,
    but nothing inside of a function. A constructor is a span of its class's name."""
    for node in body:
        if not isinstance(node, SymbolDefinition):
            yield from _spans(ast.iter_child_nodes(node), outer, nested=nested)
            continue
        name = f"{outer}.{node.name}" if outer and node.name != CONSTRUCTOR else outer or node.name
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        yield DefinitionSpan(name, first, node.end_lineno or node.lineno)
        if nested and isinstance(node, ast.ClassDef):
            yield from _spans(node.body, name)
