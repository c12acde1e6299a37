"""What a fix edited, read off the code before and after it: gold is derived, never typed by hand.

Where `gold` reads a bug that was put into our own code, this reads a fix that was made to somebody's: only what was
there before can have been at fault, so a definition that the fix brings is none of the gold.
"""

import ast
import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
CONSTRUCTOR = "__init__"


class Span(NamedTuple):
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
    found = {f"{path}::{name}" for path, texts in files.items() if path.endswith(".py") for name in _names(*texts)}
    outermost = {f"{path}::{name.partition('.')[0]}" for path, _, name in (one.partition("::") for one in found)}
    return Edited(tuple(sorted(outermost)), tuple(sorted(found)))


def _names(before: str, after: str) -> set[str]:
    """Whole names of what a change touched: removed lines looked up in the text before, added ones in that after."""
    try:
        old, new = (list(_spans(ast.parse(text).body)) for text in (before, after))
    except (SyntaxError, ValueError):
        return set()
    lines, others = before.split("\n"), after.split("\n")
    changes = difflib.SequenceMatcher(None, lines, others, autojunk=False).get_opcodes()
    removed = (n for kind, start, end, _, _ in changes if kind != "equal" for n in range(start, end))
    added = (n for kind, _, _, start, end in changes if kind != "equal" for n in range(start, end))
    touched = {*_around(old, lines, removed), *_around(new, others, added)}
    return touched & {span.name for span in old}


def _around(spans: list[Span], lines: list[str], numbers: Iterable[int]) -> Iterator[str]:
    """The innermost span around each line (counted from 0) that holds anything at all."""
    for number in numbers:
        if lines[number].strip():
            around = [span for span in spans if span.first <= number + 1 <= span.last]
            if around:
                yield max(around, key=lambda span: span.first).name


def _spans(body: Iterable[ast.AST], outer: str = "") -> Iterator[Span]:
    """Functions and classes, also those under an `if` or `try`; methods of classes, but nothing inside of a function.
    A constructor is a span of its class's name."""
    for node in body:
        if not isinstance(node, Definition):
            yield from _spans(ast.iter_child_nodes(node), outer)
            continue
        name = f"{outer}.{node.name}" if outer and node.name != CONSTRUCTOR else outer or node.name
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        yield Span(name, first, node.end_lineno or node.lineno)
        if isinstance(node, ast.ClassDef):
            yield from _spans(node.body, name)
