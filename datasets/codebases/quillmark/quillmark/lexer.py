"""The first look at a source: what kind of line is this?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """Kinds of lines, by how they begin."""

    BLANK = "blank"
    HEADING = "heading"
    FENCE = "fence"
    RULE = "rule"
    DIRECTIVE = "directive"
    END = "end"
    QUOTE = "quote"
    BULLET = "bullet"
    ORDERED = "ordered"
    DEFINITION = "definition"
    TEXT = "text"


@dataclass(frozen=True)
class Line:
    """One line of source: its kind, what begins it, and what is left without that."""

    kind: Kind
    number: int
    raw: str
    indent: int = 0
    marker: str = ""
    text: str = ""


# The first that matches decides, so a rule of dashes is none of the bullets.
_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (Kind.HEADING, re.compile(r"(?P<marker>#{1,6})[ ]+(?P<text>.*?)[ ]*#*")),
    (Kind.FENCE, re.compile(r"(?P<marker>`{3,}|~{3,})[ ]*(?P<text>[^`]*)")),
    (Kind.RULE, re.compile(r"(?P<marker>(?:-[ ]*){3,}|(?:\*[ ]*){3,})(?P<text>)")),
    (Kind.END, re.compile(r"(?P<marker>::end)(?P<text>)[ ]*")),
    (Kind.DIRECTIVE, re.compile(r"(?P<marker>::[a-z][\w-]*)(?:[ ]+(?P<text>.*))?")),
    (Kind.QUOTE, re.compile(r"(?P<marker>>)[ ]?(?P<text>.*)")),
    (Kind.BULLET, re.compile(r"(?P<marker>[-*+])[ ]+(?P<text>.*)")),
    (Kind.ORDERED, re.compile(r"(?P<marker>\d{1,9}[.)])[ ]+(?P<text>.*)")),
    (Kind.DEFINITION, re.compile(r"\[(?P<marker>[^\]]+)\]:[ ]*(?P<text>\S.*)")),
)


def tokenize(text: str, first_line: int = 1) -> list[Line]:
    """All lines of `text`, numbered from `first_line`."""
    return [classify(raw, number) for number, raw in enumerate(text.split("\n"), first_line)]


def classify(raw: str, number: int) -> Line:
    """The line `raw` by its beginning; tabs count as spaces up to the next stop."""
    raw = raw.expandtabs(4).rstrip("\r")
    content = raw.strip()
    indent = len(raw) - len(raw.lstrip(" "))
    if not content:
        return Line(Kind.BLANK, number, raw)
    for kind, pattern in _PATTERNS:
        match = pattern.fullmatch(content)
        if match:
            return Line(kind, number, raw, indent, match["marker"], (match["text"] or "").strip())
    return Line(Kind.TEXT, number, raw, indent, "", content)
