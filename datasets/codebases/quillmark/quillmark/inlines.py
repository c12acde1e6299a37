"""Markup inside a line of text: emphasis, code, links, images, variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from quillmark.nodes import Code, Emphasis, Image, Inline, LineBreak, Link, Reference, Strong, Text, Variable

_PUNCTUATION = frozenset("\\`*_{}[]()<>#+-.!|:\"'")
_DESTINATION = re.compile(r"\(\s*<?(?P<target>[^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)*)>?(?:\s+\"(?P<title>[^\"]*)\")?\s*\)")
_AUTOLINK = re.compile(r"<(?P<target>(?:[a-z][a-z0-9+.-]*:[^\s<>]+|[^\s<>@]+@[^\s<>@]+\.[^\s<>@]+))>", re.IGNORECASE)
_VARIABLE = re.compile(r"\{\{\s*(?P<name>[A-Za-z_][\w.]*)\s*\}\}")

Step = tuple[Inline, int] | None


def parse_inlines(text: str, references: Mapping[str, Reference]) -> tuple[Inline, ...]:
    """The inlines of one paragraph, heading or label. Markup that is not closed is plain text."""
    return _Scanner(text, references).run()


def label_key(label: str) -> str:
    """Reference labels are compared without regard to case and spacing."""
    return " ".join(label.split()).casefold()


class _Scanner:
    def __init__(self, text: str, references: Mapping[str, Reference]) -> None:
        self._text = text
        self._references = references
        self._found: list[Inline] = []
        self._plain = ""
        self._handlers: dict[str, Callable[[int], Step]] = {
            "`": self._code,
            "*": self._emphasis,
            "[": self._link,
            "!": self._image,
            "<": self._autolink,
            "{": self._variable,
            "\n": self._newline,
        }

    def run(self) -> tuple[Inline, ...]:
        at = 0
        while at < len(self._text):
            char = self._text[at]
            if char == "\\" and at + 1 < len(self._text) and self._text[at + 1] in _PUNCTUATION:
                self._plain += self._text[at + 1]
                at += 2
                continue
            handler = self._handlers.get(char)
            step = handler(at) if handler else None
            if step is None:
                self._plain += char
                at += 1
            else:
                self._flush()
                node, at = step
                self._found.append(node)
        self._flush()
        return tuple(self._found)

    def _flush(self) -> None:
        if self._plain:
            self._found.append(Text(self._plain))
            self._plain = ""

    def _inner(self, text: str) -> tuple[Inline, ...]:
        return parse_inlines(text, self._references)

    def _code(self, at: int) -> Step:
        ticks = re.compile("`+").match(self._text, at)
        assert ticks is not None
        closing = re.compile(rf"(?<!`){ticks.group()}(?!`)").search(self._text, ticks.end())
        if closing is None:
            return None
        return Code(self._text[ticks.end() : closing.start()].strip().replace("\n", " ")), closing.end()

    def _emphasis(self, at: int) -> Step:
        marker = "**" if self._text.startswith("**", at) else "*"
        start = at + len(marker)
        end = self._closing(marker, start)
        if end is None or self._text[start].isspace() or end == start:
            return None
        inner = self._inner(self._text[start:end])
        return (Strong(inner) if marker == "**" else Emphasis(inner)), end + len(marker)

    def _closing(self, marker: str, start: int) -> int | None:
        """Where `marker` closes: not after white space, and for a single star not half of a double one."""
        at = self._text.find(marker, start)
        while at != -1:
            double = marker == "*" and self._text.startswith("**", at)
            if not double and at > start and not self._text[at - 1].isspace() and self._text[at - 1] != "\\":
                return at
            at = self._text.find(marker, at + (2 if double else 1))
        return None

    def _link(self, at: int) -> Step:
        end = self._bracket(at)
        if end is None:
            return None
        label = self._text[at + 1 : end]
        found = self._destination(end + 1, label)
        if found is None:
            return None
        target, title, after = found
        return Link(self._inner(label), target, title), after

    def _image(self, at: int) -> Step:
        if not self._text.startswith("![", at):
            return None
        end = self._bracket(at + 1)
        if end is None:
            return None
        alt = self._text[at + 2 : end]
        found = self._destination(end + 1, alt)
        return (Image(alt, found[0], found[1]), found[2]) if found else None

    def _destination(self, at: int, label: str) -> tuple[str, str, int] | None:
        """Target, title and end of `(target "title")`, `[reference]`, or nothing after a defined label."""
        direct = _DESTINATION.match(self._text, at)
        if direct:
            return direct["target"], direct["title"] or "", direct.end()
        after = at
        if self._text.startswith("[", at):
            end = self._bracket(at)
            if end is not None:
                label, after = self._text[at + 1 : end] or label, end + 1
        reference = self._references.get(label_key(label))
        return (reference.target, reference.title, after) if reference else None

    def _bracket(self, at: int) -> int | None:
        """The bracket that closes the one at `at`."""
        depth = 0
        for position in range(at, len(self._text)):
            char = self._text[position]
            if char in "[]" and self._text[position - 1 : position] != "\\":
                depth += 1 if char == "[" else -1
                if depth == 0:
                    return position
        return None

    def _autolink(self, at: int) -> Step:
        match = _AUTOLINK.match(self._text, at)
        if match is None:
            return None
        shown = match["target"]
        target = shown if ":" in shown else f"mailto:{shown}"
        return Link((Text(shown),), target), match.end()

    def _variable(self, at: int) -> Step:
        match = _VARIABLE.match(self._text, at)
        return (Variable(match["name"]), match.end()) if match else None

    def _newline(self, at: int) -> Step:
        """Two spaces at the end of a line break it; any other newline is a space."""
        if not self._plain.endswith("  "):
            return None
        self._plain = self._plain.rstrip(" ")
        return LineBreak(), at + 1
