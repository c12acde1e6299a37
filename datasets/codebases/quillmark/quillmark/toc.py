"""Anchors of headings, and the table of contents made of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from quillmark.escape import Safe, escape
from quillmark.nodes import Block, Directive, Document, Heading, Inline, ListBlock, Quote, plain_text


@dataclass
class Entry:
    """One heading in the table of contents, with those below it."""

    level: int
    slug: str
    text: str
    children: list[Entry] = field(default_factory=list)


def slugify(text: str) -> str:
    """Lower-case letters, digits and dashes; accents are dropped, other letters of any script kept."""
    bare = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return re.sub(r"[\W_]+", "-", bare.casefold()).strip("-") or "section"


class Slugger:
    """Hands out slugs that are unique within a page: `setup`, `setup-2`, `setup-3`."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def slug(self, text: str) -> str:
        wanted = slugify(text)
        slug, number = wanted, 1
        while slug in self._taken:
            number += 1
            slug = f"{wanted}-{number}"
        self._taken.add(slug)
        return slug


def with_anchors(document: Document, values: Mapping[str, Any]) -> Document:
    """The same document with a slug in every heading, also in quotes, lists and directives."""
    slugger = Slugger()
    return replace(document, blocks=_anchored(document.blocks, lambda text: slugger.slug(plain_text(text, values))))


def _anchored(blocks: Sequence[Block], slug_of: Callable[[tuple[Inline, ...]], str]) -> tuple[Block, ...]:
    found: list[Block] = []
    for block in blocks:
        if isinstance(block, Heading):
            block = replace(block, slug=slug_of(block.children))
        elif isinstance(block, (Quote, Directive)):
            block = replace(block, blocks=_anchored(block.blocks, slug_of))
        elif isinstance(block, ListBlock):
            block = replace(block, items=tuple(_anchored(item, slug_of) for item in block.items))
        found.append(block)
    return tuple(found)


def headings(blocks: Sequence[Block]) -> Iterator[Heading]:
    """All headings in reading order, whatever they stand in."""
    for block in blocks:
        if isinstance(block, Heading):
            yield block
        elif isinstance(block, (Quote, Directive)):
            yield from headings(block.blocks)
        elif isinstance(block, ListBlock):
            for item in block.items:
                yield from headings(item)


def outline(document: Document, depth: int, values: Mapping[str, Any]) -> list[Entry]:
    """The headings down to level `depth` as a tree; a skipped level does not open an empty one."""
    roots: list[Entry] = []
    open_entries: list[Entry] = []
    for heading in headings(document.blocks):
        if heading.level > depth:
            continue
        entry = Entry(heading.level, heading.slug, plain_text(heading.children, values))
        while open_entries and open_entries[-1].level >= entry.level:
            open_entries.pop()
        (open_entries[-1].children if open_entries else roots).append(entry)
        open_entries.append(entry)
    return roots


def render_toc(entries: Sequence[Entry]) -> Safe:
    """Nested lists of links; empty for a page without headings."""
    if not entries:
        return Safe("")
    items = "".join(
        f'<li><a href="#{escape(entry.slug)}">{escape(entry.text)}</a>{render_toc(entry.children)}</li>'
        for entry in entries
    )
    return Safe(f"<ul>{items}</ul>")
