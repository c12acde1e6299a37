"""Cutting a repository into chunks: source code by function and class, all other text by windows of lines.

Every chunk starts with a header line `# path Class.function`; it costs little, and is worth a tenth of the
retrieval score, since file and class names are half of what an issue gives away.
"""

import ast
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from triage.codebase.symbols import SymbolDefinition as Symbol
from triage.codebase.symbols import definitions_of, grammar_of

MAX_CHARS: Final = 1_600
"""Length of a chunk, header included; a longer function is cut into several."""
WINDOW_CHARS: Final = 1_000
"""Length of a chunk of plain text: about the 256 tokens the embedding reads."""
_REMEMBERED: Final = 200
"""Files whose chunks are kept: most trees of one codebase differ in a file or two."""

SymbolDefinition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Chunk:
    """Lines `start` to `end` (from 1, both included) of the file at `path`, with the header line on top."""

    path: str
    start: int
    end: int
    text: str

    @property
    def id(self) -> str:
        """Unique within a repository."""
        return f"{self.path}:{self.start}-{self.end}"

    @property
    def symbol(self) -> str:
        """`path::Class.function`, or `path` alone for what stands outside of any."""
        name = self.text.partition("\n")[0].removeprefix(f"# {self.path}").strip()
        return f"{self.path}::{name}" if name else self.path


@dataclass(frozen=True)
class _Span:
    """A run of lines that belongs to one name ("" for the module itself)."""

    start: int
    end: int
    name: str


@lru_cache(_REMEMBERED)
def chunks_of(path: str, text: str) -> tuple[Chunk, ...]:
    """The chunks of one file, in order of their lines; together they hold every line that is not blank."""
    lines = text.split("\n")
    whole = _Span(1, len(lines), "")
    spans, limit = [whole], WINDOW_CHARS
    if path.endswith(".py"):
        limit = MAX_CHARS
        with suppress(SyntaxError, ValueError):  # source of another Python version, or broken: still worth finding
            spans = _spans(ast.parse(text).body, lines, whole)
    elif (grammar := grammar_of(path)) and (found := definitions_of(text, grammar)) is not None:
        spans, limit = _spans_of_symbols(found, lines, whole), MAX_CHARS
    return tuple(chunk for span in spans for chunk in _cut(path, lines, span, limit))


def _spans_of_symbols(found: Iterable[Symbol], lines: list[str], whole: _Span) -> list[_Span]:
    """As `_spans`, of definitions in another language than Python. A namespace is always divided."""
    own = [(_Span(one.start, one.end, one.name), one) for one in found]
    edges = [_Span(whole.start, whole.start - 1, ""), *(span for span, _ in own), _Span(whole.end + 1, whole.end, "")]
    between = [_Span(left.end + 1, right.start - 1, whole.name) for left, right in pairwise(edges)]
    inner: list[_Span] = []
    for span, one in own:
        fits = _size(span, lines) <= MAX_CHARS
        inner += _spans_of_symbols(one.inner, lines, span) if one.inner and (one.scope or not fits) else [span]
    return sorted([*between, *inner], key=lambda span: span.start)


def _spans(body: Iterable[ast.stmt], lines: list[str], whole: _Span) -> list[_Span]:
    """The definitions in `body`, each with its name, and what stands between them under the name of `whole`."""
    own = [_span_of(node, lines, whole) for node in body if isinstance(node, SymbolDefinition)]
    edges = [_Span(whole.start, whole.start - 1, ""), *(span for span, _ in own), _Span(whole.end + 1, whole.end, "")]
    between = [_Span(left.end + 1, right.start - 1, whole.name) for left, right in pairwise(edges)]
    inner = [part for span, node in own for part in _parts(span, node, lines)]
    return sorted([*between, *inner], key=lambda span: span.start)


def _span_of(node: SymbolDefinition, lines: list[str], whole: _Span) -> tuple[_Span, SymbolDefinition]:
    """From the first decorator, or the comment right above it, to the last line of the body."""
    start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    while start > whole.start and lines[start - 2].lstrip().startswith("#"):
        start -= 1
    name = f"{whole.name}.{node.name}" if whole.name else node.name
    return _Span(start, node.end_lineno or node.lineno, name), node


def _parts(span: _Span, node: SymbolDefinition, lines: list[str]) -> list[_Span]:
    """A function is one part; so is a class that fits one chunk, any other goes by its methods."""
    if isinstance(node, ast.ClassDef) and _size(span, lines) > MAX_CHARS:
        return _spans(node.body, lines, span)
    return [span]


def _size(span: _Span, lines: list[str]) -> int:
    return sum(len(line) + 1 for line in lines[span.start - 1 : span.end])


def _cut(path: str, lines: list[str], span: _Span, limit: int) -> Iterator[Chunk]:
    """`span` without its blank edges, cut before the line that would exceed `limit`; overlong lines are clipped."""
    header = f"# {path} {span.name}".rstrip()
    room = limit - len(header) - 1
    start, size = span.start, 0
    for number in range(span.start, span.end + 1):
        length = min(len(lines[number - 1]) + 1, room)
        if size + length > room:
            yield from _chunk(path, header, lines, start, number - 1, room)
            start, size = number, 0
        size += length
    yield from _chunk(path, header, lines, start, span.end, room)


def _chunk(path: str, header: str, lines: list[str], start: int, end: int, room: int) -> Iterator[Chunk]:
    while start <= end and not lines[start - 1].strip():
        start += 1
    while start <= end and not lines[end - 1].strip():
        end -= 1
    if start <= end:
        body = "\n".join(line[: room - 1] for line in lines[start - 1 : end])
        yield Chunk(path, start, end, f"{header}\n{body}")
