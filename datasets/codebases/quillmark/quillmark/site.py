"""A site: find the pages, render what has changed, put them into layouts, write them out."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

from quillmark import frontmatter
from quillmark.blocks import parse
from quillmark.cache import BuildCache, PageRecord, file_digest, text_digest
from quillmark.config import Settings
from quillmark.errors import SourceError
from quillmark.escape import Safe
from quillmark.filters import FILTERS
from quillmark.includes import Includer
from quillmark.links import BrokenLink, broken_links
from quillmark.plugins import Registry, default_registry, load_plugins
from quillmark.render import OUTPUT_SUFFIX, SOURCE_SUFFIX, render
from quillmark.template import Layouts

log = logging.getLogger(__name__)

DEFAULT_LAYOUT = "page.html"
_BUILTIN = {DEFAULT_LAYOUT: "<!doctype html>\n<title>{{ page.title }} - {{ site.title }}</title>\n{{ page.body }}\n"}


@dataclass(frozen=True)
class Page:
    """A page as a layout sees it."""

    path: str
    url: str
    title: str
    date: date | None
    tags: tuple[str, ...]
    meta: Mapping[str, Any]
    body: Safe
    toc: Safe


@dataclass
class BuildReport:
    """What a build did: output paths by what became of them."""

    written: list[str] = field(default_factory=list)
    reused: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    broken: list[BrokenLink] = field(default_factory=list)


class Site:
    """Builds the site in folder `root` as of the day `today`."""

    def __init__(self, root: Path, settings: Settings, today: date) -> None:
        self._root = root
        self._settings = settings
        self._today = today
        self._content = root / settings.content
        self._digest = settings.rendering_digest()
        self._registry = _registry(settings)
        self._includer = Includer(self._content)
        self._layouts = Layouts(root / settings.layouts, self._registry.filters, _BUILTIN)
        self._cache = BuildCache.load(root / settings.cache, self._content)

    def build(self) -> BuildReport:
        """Render, write and check everything. Raises QuillError."""
        report = BuildReport()
        records = {name: self._record(name, report) for name in self._sources()}
        pages = self._published(records, report)
        for page in pages:
            self._write(page, pages)
            report.written.append(page.path)
        report.broken = list(self._broken(records, pages))
        self._cache.keep_only(set(records))
        self._cache.save()
        counts = len(report.written), len(report.reused), len(report.left_out)
        log.info("%d pages written, %d from the cache, %d left out", *counts)
        return report

    def _sources(self) -> list[str]:
        if not self._content.is_dir():
            raise SourceError("there is no content folder", self._settings.content)
        found = (path.relative_to(self._content).as_posix() for path in self._content.rglob(f"*{SOURCE_SUFFIX}"))
        # Folders that begin with an underscore hold snippets, not pages.
        return sorted(name for name in found if not any(part.startswith("_") for part in PurePosixPath(name).parts))

    def _record(self, name: str, report: BuildReport) -> PageRecord:
        text = self._read(name)
        source = text_digest(text)
        known = self._cache.find(name, source, self._digest)
        if known is not None:
            report.reused.append(name)
            return known
        record = self._rendered(name, text, source)
        self._cache.records[name] = record
        return record

    def _read(self, name: str) -> str:
        try:
            return (self._content / name).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise SourceError("is not UTF-8", name) from error

    def _rendered(self, name: str, text: str, source: str) -> PageRecord:
        meta, body, line = frontmatter.split(text, name)
        expanded = self._includer.expand(body, self._content / name, line)
        document = parse(expanded.text, name, line)
        values = {**self._settings.variables, **meta}
        depth = meta.get("toc_depth", self._settings.toc_depth)
        if not isinstance(depth, int):
            raise SourceError(f"toc_depth is no number: {depth!r}", name)
        done = render(document, self._registry, values, name, depth)
        files = {path.relative_to(self._content.resolve()).as_posix(): file_digest(path) for path in expanded.files}
        return PageRecord(source, self._digest, files, meta, done.body, done.toc, done.anchors, done.links)

    def _published(self, records: Mapping[str, PageRecord], report: BuildReport) -> list[Page]:
        """Pages that go out, newest first, those without a date last."""
        pages = []
        for name, record in records.items():
            reason = self._reason_to_leave_out(name, record.meta)
            if reason:
                log.debug("%s is left out: %s", name, reason)
                report.left_out[name] = reason
            else:
                pages.append(self._page(name, record))
        return sorted(pages, key=lambda page: (page.date or date.min, page.path), reverse=True)

    def _reason_to_leave_out(self, name: str, meta: Mapping[str, Any]) -> str:
        if any(fnmatch(name, pattern) for pattern in self._settings.exclude):
            return "excluded"
        if meta.get("draft") is True and not self._settings.drafts:
            return "draft"
        published = meta.get("date")
        if isinstance(published, date) and published > self._today and not self._settings.future:
            return "in the future"
        return ""

    def _page(self, name: str, record: PageRecord) -> Page:
        path = output_path(name)
        meta = record.meta
        title = str(meta.get("title") or PurePosixPath(name).stem)
        tags = meta.get("tags") or ()
        return Page(
            path=path,
            url=f"{self._settings.base_url.rstrip('/')}/{path}",
            title=title,
            date=meta["date"] if isinstance(meta.get("date"), date) else None,
            tags=tuple(map(str, tags)) if isinstance(tags, (list, tuple)) else (str(tags),),
            meta=meta,
            body=Safe(record.body),
            toc=Safe(record.toc),
        )

    def _write(self, page: Page, pages: list[Page]) -> None:
        layout = self._layouts.get(str(page.meta.get("layout", DEFAULT_LAYOUT)))
        site = {"title": self._settings.title, "base_url": self._settings.base_url, "pages": pages}
        context = {"page": page, "site": {**site, "variables": self._settings.variables}}
        target = self._root / self._settings.output / page.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(layout.render(context), encoding="utf-8")

    def _broken(self, records: Mapping[str, PageRecord], pages: list[Page]) -> Iterator[BrokenLink]:
        out = {page.path for page in pages}
        going = {path: record for name, record in records.items() if (path := output_path(name)) in out}
        files = {
            path.relative_to(self._content).as_posix()
            for path in self._content.rglob("*")
            if path.is_file() and path.suffix != SOURCE_SUFFIX
        }
        return broken_links(going, files)


def output_path(name: str) -> str:
    """Where the page made of source `name` goes."""
    return name.removesuffix(SOURCE_SUFFIX) + OUTPUT_SUFFIX


def _registry(settings: Settings) -> Registry:
    registry = default_registry(FILTERS)
    load_plugins(registry, settings.plugins)
    return registry
