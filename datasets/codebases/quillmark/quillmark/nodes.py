"""The document tree. Blocks hold blocks or inlines; everything is immutable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Text:
    value: str


@dataclass(frozen=True)
class Code:
    value: str


@dataclass(frozen=True)
class LineBreak:
    pass


@dataclass(frozen=True)
class Variable:
    """`{{ name }}` in running text; its value comes from the page's header or the site's variables."""

    name: str


@dataclass(frozen=True)
class Emphasis:
    children: tuple[Inline, ...]


@dataclass(frozen=True)
class Strong:
    children: tuple[Inline, ...]


@dataclass(frozen=True)
class Link:
    children: tuple[Inline, ...]
    target: str
    title: str = ""


@dataclass(frozen=True)
class Image:
    alt: str
    source: str
    title: str = ""


Inline = Text | Code | LineBreak | Variable | Emphasis | Strong | Link | Image


@dataclass(frozen=True)
class Heading:
    level: int
    children: tuple[Inline, ...]
    slug: str = ""


@dataclass(frozen=True)
class Paragraph:
    children: tuple[Inline, ...]


@dataclass(frozen=True)
class CodeBlock:
    text: str
    language: str = ""


@dataclass(frozen=True)
class Rule:
    pass


@dataclass(frozen=True)
class Quote:
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class ListBlock:
    """`items` are sequences of blocks; a tight list shows its paragraphs without `<p>`."""

    ordered: bool
    items: tuple[tuple[Block, ...], ...]
    start: int = 1
    tight: bool = True


@dataclass(frozen=True)
class Directive:
    """`::name argument` with a body up to `::end`, or `::name argument /` without one."""

    name: str
    argument: str
    blocks: tuple[Block, ...]
    line: int


Block = Heading | Paragraph | CodeBlock | Rule | Quote | ListBlock | Directive


@dataclass(frozen=True)
class Reference:
    """`[label]: target "title"`."""

    target: str
    title: str = ""


@dataclass(frozen=True)
class Document:
    blocks: tuple[Block, ...]


def plain_text(children: tuple[Inline, ...], values: Mapping[str, Any]) -> str:
    """What a reader sees, without any markup; `values` are what variables stand for."""
    parts = []
    for node in children:
        if isinstance(node, (Text, Code)):
            parts.append(node.value)
        elif isinstance(node, Variable):
            parts.append(str(values.get(node.name, node.name)))
        elif isinstance(node, LineBreak):
            parts.append(" ")
        elif isinstance(node, Image):
            parts.append(node.alt)
        else:
            parts.append(plain_text(node.children, values))
    return "".join(parts)
