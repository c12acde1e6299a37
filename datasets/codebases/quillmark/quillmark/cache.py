"""What the last build knows about each page, so that the next one renders only what has changed."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

FORMAT = 3


@dataclass(frozen=True)
class PageRecord:
    """A rendered page, and what it was rendered from.

    `source` is the digest of its file, `settings` that of the settings, `files` the digests of what it includes.
    """

    source: str
    settings: str
    files: Mapping[str, str]
    meta: Mapping[str, Any]
    body: str
    toc: str
    anchors: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


@dataclass
class BuildCache:
    """Records by page; `root` is the folder the names of included files are relative to."""

    path: Path
    root: Path
    records: dict[str, PageRecord] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path, root: Path) -> BuildCache:
        """The cache at `path`; an unreadable or older one is as good as none."""
        cache = cls(path, root)
        try:
            stored = json.loads(path.read_text(encoding="utf-8"), object_hook=_untagged)
            if stored["format"] == FORMAT:
                cache.records = {name: _record(fields) for name, fields in stored["pages"].items()}
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.warning("the cache %s cannot be used and is built anew: %s", path.name, error)
        return cache

    def find(self, page: str, source: str, settings: str) -> PageRecord | None:
        """The record of `page` if nothing it rests on has changed."""
        record = self.records.get(page)
        if record is None or (record.source, record.settings) != (source, settings):
            return None
        if any(file_digest(self.root / name) != digest for name, digest in record.files.items()):
            return None
        return record

    def keep_only(self, pages: set[str]) -> None:
        """Forget pages whose source is gone."""
        self.records = {name: record for name, record in self.records.items() if name in pages}

    def save(self) -> None:
        """Write all records; a reader sees the old file or the new one, never half of it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        stored = {"format": FORMAT, "pages": {name: asdict(self.records[name]) for name in sorted(self.records)}}
        scratch = self.path.with_suffix(".tmp")
        scratch.write_text(json.dumps(stored, default=_tagged), encoding="utf-8")
        os.replace(scratch, self.path)


def text_digest(text: str) -> str:
    """Sha256 (hex) of a source."""
    return hashlib.sha256(text.encode()).hexdigest()


def file_digest(path: Path) -> str:
    """Sha256 (hex) of a file; empty if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _record(fields: Mapping[str, Any]) -> PageRecord:
    lists = {name: tuple(fields[name]) for name in ("anchors", "links")}
    return PageRecord(**{**fields, **lists})


def _tagged(value: Any) -> Any:
    """JSON knows no dates."""
    if isinstance(value, date):
        return {"$date": value.isoformat()}
    raise TypeError(f"{type(value).__name__} cannot be kept in the cache")


def _untagged(value: dict[str, Any]) -> Any:
    return date.fromisoformat(value["$date"]) if value.keys() == {"$date"} else value
