"""From the document tree to HTML."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from quillmark.errors import SourceError
from quillmark.escape import Safe, escape, safe_url
from quillmark.nodes import Block, CodeBlock, Directive, Document, Heading, ListBlock, Paragraph, Quote, Rule
from quillmark.nodes import Code, Emphasis, Image, Inline, LineBreak, Link, Strong, Text, Variable
from quillmark.plugins import Call, Registry, split_argument
from quillmark.toc import headings, outline, render_toc, with_anchors

log = logging.getLogger(__name__)

SOURCE_SUFFIX = ".md"
OUTPUT_SUFFIX = ".html"


@dataclass(frozen=True)
class Rendered:
    """A page's HTML, its table of contents, its anchors, and everything it links to, in reading order."""

    body: Safe
    toc: Safe
    anchors: tuple[str, ...]
    links: tuple[str, ...]


def render(
    document: Document, registry: Registry, values: Mapping[str, Any], path: str = "<text>", toc_depth: int = 3
) -> Rendered:
    """The HTML of `document`; `values` are what its variables stand for. Raises SourceError."""
    anchored = with_anchors(document, values)
    toc = render_toc(outline(anchored, toc_depth, values))
    renderer = _Renderer(registry, values, path, toc)
    body = renderer.blocks(anchored.blocks)
    anchors = tuple(heading.slug for heading in headings(anchored.blocks))
    return Rendered(body, toc, anchors, tuple(renderer.links))


def output_target(target: str) -> str:
    """A link between sources, as it has to be between the pages made of them: `a.md#x` becomes `a.html#x`."""
    page, hash_mark, anchor = target.partition("#")
    if page.endswith(SOURCE_SUFFIX) and "://" not in page:
        page = page.removesuffix(SOURCE_SUFFIX) + OUTPUT_SUFFIX
    return page + hash_mark + anchor


class _Renderer:
    def __init__(self, registry: Registry, values: Mapping[str, Any], path: str, toc: Safe) -> None:
        self._registry = registry
        self._values = values
        self._path = path
        self._toc = toc
        self.links: list[str] = []

    def blocks(self, blocks: Iterable[Block]) -> Safe:
        return Safe("\n".join(self._block(block) for block in blocks))

    def inlines(self, children: Iterable[Inline]) -> Safe:
        return Safe("".join(self._inline(child) for child in children))

    def _block(self, block: Block) -> Safe:
        match block:
            case Heading(level, children, slug):
                return Safe(f'<h{level} id="{escape(slug)}">{self.inlines(children)}</h{level}>')
            case Paragraph(children):
                return Safe(f"<p>{self.inlines(children)}</p>")
            case CodeBlock(text, language):
                attribute = f' class="language-{escape(language)}"' if language else ""
                return Safe(f"<pre><code{attribute}>{escape(text)}</code></pre>")
            case Quote(blocks):
                return Safe(f"<blockquote>{self.blocks(blocks)}</blockquote>")
            case ListBlock():
                return self._list(block)
            case Directive():
                return self._directive(block)
            case Rule():
                return Safe("<hr>")

    def _list(self, block: ListBlock) -> Safe:
        tag = "ol" if block.ordered else "ul"
        start = f' start="{block.start}"' if block.ordered and block.start != 1 else ""
        items = "".join(f"<li>{self._item(item, block.tight)}</li>" for item in block.items)
        return Safe(f"<{tag}{start}>{items}</{tag}>")

    def _item(self, blocks: tuple[Block, ...], tight: bool) -> Safe:
        if not tight:
            return self.blocks(blocks)
        parts = [
            self.inlines(block.children) if isinstance(block, Paragraph) else self._block(block) for block in blocks
        ]
        return Safe("\n".join(parts))

    def _directive(self, node: Directive) -> Safe:
        function = self._registry.directives.get(node.name)
        if function is None:
            known = ", ".join(sorted(self._registry.directives))
            raise SourceError(f"unknown directive {node.name!r}; there are {known}", self._path, node.line)
        title, options = split_argument(node.argument)
        return escape(function(Call(node.name, title, options, self.blocks(node.blocks), self._toc)))

    def _inline(self, node: Inline) -> Safe:
        match node:
            case Text(value):
                return escape(value)
            case Code(value):
                return Safe(f"<code>{escape(value)}</code>")
            case Emphasis(children):
                return Safe(f"<em>{self.inlines(children)}</em>")
            case Strong(children):
                return Safe(f"<strong>{self.inlines(children)}</strong>")
            case Link(children, target, title):
                return Safe(f'<a href="{self._address(target)}"{_title(title)}>{self.inlines(children)}</a>')
            case Image(alt, source, title):
                return Safe(f'<img src="{escape(safe_url(source))}" alt="{escape(alt)}"{_title(title)}>')
            case Variable(name):
                return self._variable(name)
            case LineBreak():
                return Safe("<br>")

    def _address(self, target: str) -> Safe:
        address = safe_url(output_target(target))
        self.links.append(address)
        return escape(address)

    def _variable(self, name: str) -> Safe:
        if name not in self._values:
            log.warning("%s: nothing is called %r, left as it is", self._path, name)
            return escape("{{ " + name + " }}")
        return escape(self._values[name])


def _title(title: str) -> Safe:
    return Safe(f' title="{escape(title)}"') if title else Safe("")
