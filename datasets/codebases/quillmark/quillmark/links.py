"""Links between the pages of a site: does each lead somewhere?"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from quillmark.cache import PageRecord


@dataclass(frozen=True)
class BrokenLink:
    """A link on `page` that leads nowhere, and why."""

    page: str
    target: str
    reason: str


def broken_links(pages: Mapping[str, PageRecord], files: Collection[str] = ()) -> Iterator[BrokenLink]:
    """Every internal link of `pages` (by output path) that leads to no page, no file and no anchor."""
    for name, page in pages.items():
        for target in page.links:
            reason = _fault(name, target, pages, files)
            if reason:
                yield BrokenLink(name, target, reason)


def _fault(name: str, target: str, pages: Mapping[str, PageRecord], files: Collection[str]) -> str:
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return ""
    path = _resolved(name, unquote(parts.path))
    if path not in pages:
        return "" if path in files else "no such page"
    anchor = unquote(parts.fragment)
    if anchor and anchor not in pages[path].anchors:
        return "no such heading"
    return ""


def _resolved(name: str, path: str) -> str:
    """The output path meant by `path` on page `name`; a folder means its index."""
    if not path:
        return name
    joined = path.lstrip("/") if path.startswith("/") else posixpath.join(posixpath.dirname(name), path)
    normal = posixpath.normpath(joined)
    if path.endswith("/") or normal == ".":
        normal = posixpath.normpath(posixpath.join(normal, "index.html"))
    return normal
