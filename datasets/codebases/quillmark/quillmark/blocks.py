"""From lines to blocks: headings, lists, quotes, code, directives and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quillmark.errors import SourceError
from quillmark.inlines import label_key, parse_inlines
from quillmark.lexer import Kind, Line, classify, tokenize
from quillmark.nodes import Block, CodeBlock, Directive, Document, Heading, ListBlock, Paragraph, Quote, Reference, Rule

References = dict[str, Reference]
_TARGET = re.compile(r"<?(?P<target>[^\s>]+)>?(?:\s+[\"'(](?P<title>.*)[\"')])?")
_MAX_DEPTH = 40


def parse(text: str, path: str = "<text>", first_line: int = 1) -> Document:
    """The document tree of `text`. Raises SourceError with path and line."""
    lines = tokenize(text, first_line)
    references = _references(lines)
    return Document(_Parser(lines, path, references).blocks())


def _references(lines: Sequence[Line]) -> References:
    """All link definitions outside code; the first definition of a label counts."""
    found: References = {}
    fence = ""
    for line in lines:
        if line.kind is Kind.FENCE and fence in ("", line.marker):
            fence = "" if fence else line.marker
        elif line.kind is Kind.DEFINITION and not fence:
            match = _TARGET.fullmatch(line.text)
            if match:
                found.setdefault(label_key(line.marker), Reference(match["target"], match["title"] or ""))
    return found


class _Parser:
    """Walks over the lines of one container once."""

    def __init__(self, lines: Sequence[Line], path: str, references: References, depth: int = 0) -> None:
        self._lines = lines
        self._path = path
        self._references = references
        self._depth = depth
        self._at = 0
        if depth > _MAX_DEPTH:
            raise SourceError(f"nested deeper than {_MAX_DEPTH} levels", path, lines[0].number)

    def blocks(self) -> tuple[Block, ...]:
        found: list[Block] = []
        while (line := self._peek()) is not None:
            if line.kind in (Kind.BLANK, Kind.DEFINITION):
                self._at += 1
            else:
                found.append(self._block(line))
        return tuple(found)

    def _block(self, line: Line) -> Block:
        if line.kind is Kind.HEADING:
            self._at += 1
            return Heading(len(line.marker), parse_inlines(line.text, self._references))
        if line.kind is Kind.RULE:
            self._at += 1
            return Rule()
        if line.kind is Kind.FENCE:
            return self._code(line)
        if line.kind is Kind.QUOTE:
            return self._quote()
        if line.kind in (Kind.BULLET, Kind.ORDERED):
            return self._list(line)
        if line.kind is Kind.DIRECTIVE:
            return self._directive(line)
        if line.kind is Kind.END:
            raise SourceError("`::end` without a directive", self._path, line.number)
        return self._paragraph()

    def _code(self, fence: Line) -> CodeBlock:
        self._at += 1
        held: list[str] = []
        while (line := self._peek()) is not None:
            self._at += 1
            if line.kind is Kind.FENCE and line.marker.startswith(fence.marker) and not line.text:
                return CodeBlock("\n".join(held), fence.text.split(" ")[0])
            held.append(line.raw[min(fence.indent, line.indent) :])
        raise SourceError("the code block is never closed", self._path, fence.number)

    def _quote(self) -> Quote:
        held: list[Line] = []
        while (line := self._peek()) is not None and line.kind is Kind.QUOTE:
            held.append(classify(line.text, line.number))
            self._at += 1
        return Quote(self._nested(held))

    def _list(self, first: Line) -> ListBlock:
        items: list[tuple[Block, ...]] = []
        tight = True
        while (line := self._peek()) is not None and line.kind is first.kind and line.indent == first.indent:
            items.append(self._item(line))
            blanks = self._blanks()
            after = self._peek(blanks)
            if blanks and after is not None and after.kind is first.kind and after.indent == first.indent:
                tight = False
                self._at += blanks
        start = int(first.marker[:-1]) if first.kind is Kind.ORDERED else 1
        return ListBlock(first.kind is Kind.ORDERED, tuple(items), start, tight)

    def _item(self, first: Line) -> tuple[Block, ...]:
        """One item: its first line and everything indented as far as the text of that line."""
        width = first.indent + len(first.marker) + 1
        held = [classify(first.text, first.number)]
        self._at += 1
        while (line := self._peek()) is not None:
            if line.kind is Kind.BLANK:
                after = self._peek(self._blanks())
                if after is None or after.indent < width:
                    break
            elif line.indent < width and (line.kind is not Kind.TEXT or held[-1].kind is Kind.BLANK):
                break
            held.append(classify(line.raw[min(width, line.indent) :], line.number))
            self._at += 1
        return self._nested(held)

    def _directive(self, opening: Line) -> Directive:
        name, argument = opening.marker[2:], opening.text
        self._at += 1
        if argument == "/" or argument.endswith(" /"):
            return Directive(name, argument[:-1].strip(), (), opening.number)
        held: list[Line] = []
        depth, fence = 1, ""
        while (line := self._peek()) is not None:
            self._at += 1
            if line.kind is Kind.FENCE and line.marker.startswith(fence):
                fence = "" if fence else line.marker
            elif not fence:
                depth += _opens(line) - (line.kind is Kind.END)
            if depth == 0:
                return Directive(name, argument, self._nested(held), opening.number)
            held.append(line)
        raise SourceError(f"the directive {name!r} is never closed; add `::end`", self._path, opening.number)

    def _paragraph(self) -> Paragraph:
        held: list[str] = []
        while (line := self._peek()) is not None and line.kind is Kind.TEXT:
            held.append(line.raw.lstrip())
            self._at += 1
        return Paragraph(parse_inlines("\n".join(held).rstrip(), self._references))

    def _nested(self, lines: Sequence[Line]) -> tuple[Block, ...]:
        return _Parser(lines, self._path, self._references, self._depth + 1).blocks() if lines else ()

    def _peek(self, ahead: int = 0) -> Line | None:
        return self._lines[self._at + ahead] if self._at + ahead < len(self._lines) else None

    def _blanks(self) -> int:
        """How many blank lines come next."""
        count = 0
        while (line := self._peek(count)) is not None and line.kind is Kind.BLANK:
            count += 1
        return count


def _opens(line: Line) -> bool:
    return line.kind is Kind.DIRECTIVE and line.text != "/" and not line.text.endswith(" /")
