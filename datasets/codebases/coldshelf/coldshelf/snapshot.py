"""Snapshots: a consistent copy of a namespace in a folder of its own, checked before it is trusted.

A snapshot is the sealed segments and a manifest with their sizes and checksums. The manifest is written last: a folder
without one is a snapshot that was never finished.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from coldshelf.clock import Clock
from coldshelf.errors import SnapshotError
from coldshelf.store import Store

MANIFEST = "manifest.json"
VERSION = 1

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FileEntry:
    """One file of a snapshot."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a snapshot holds and when it was made (seconds since the epoch)."""

    namespace: str
    made_at: float
    entries: int
    files: tuple[FileEntry, ...]


class Snapshots:
    """All snapshots under one folder, one subfolder per namespace."""

    def __init__(self, root: Path, clock: Clock, keep: int) -> None:
        self._root = root
        self._clock = clock
        self._keep = keep

    def create(self, namespace: str, store: Store) -> Path:
        """Copy everything written so far; compaction waits meanwhile. Old snapshots beyond the limit are removed."""
        folder = self._fresh_folder(namespace)
        with store.maintenance:
            entries = store.roll()
            files = tuple(_copy(segment.path, folder) for segment in store.sealed())
            manifest = Manifest(namespace, self._clock.now(), entries, files)
        document = {"version": VERSION, **asdict(manifest)}
        (folder / MANIFEST).write_text(json.dumps(document, indent=2, sort_keys=True), encoding="utf-8")
        log.info("%s: snapshot %s with %d files", namespace, folder.name, len(files))
        self._prune(namespace)
        return folder

    def names(self, namespace: str) -> list[str]:
        """Names of the finished snapshots of a namespace, oldest first."""
        return [folder.name for folder in self._folders(namespace) if (folder / MANIFEST).is_file()]

    def verify(self, namespace: str, name: str) -> Manifest:
        """Check every file against the manifest. Raises SnapshotError."""
        if name not in self.names(namespace):
            raise SnapshotError(f"{namespace} has no finished snapshot {name}")
        folder = self._root / namespace / name
        manifest = _read_manifest(folder)
        for entry in manifest.files:
            path = folder / entry.name
            if not path.is_file() or path.stat().st_size != entry.size or _sha256(path) != entry.sha256:
                raise SnapshotError(f"snapshot {name}: {entry.name} is damaged or missing")
        return manifest

    def restore(self, namespace: str, name: str, into: Path) -> Manifest:
        """Put a verified snapshot in the place of the folder `into`, which nobody may have open."""
        manifest = self.verify(namespace, name)
        scratch = into.with_name(f".{into.name}.restoring")
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        for entry in manifest.files:
            shutil.copyfile(self._root / namespace / name / entry.name, scratch / entry.name)
        shutil.rmtree(into, ignore_errors=True)
        scratch.rename(into)
        log.info("%s: restored %s, %d entries", namespace, name, manifest.entries)
        return manifest

    def _fresh_folder(self, namespace: str) -> Path:
        stamp = int(self._clock.now())
        for attempt in range(1000):
            folder = self._root / namespace / f"{stamp:012d}-{attempt:03d}"
            if not folder.exists():
                folder.mkdir(parents=True)
                return folder
        raise SnapshotError(f"{namespace}: too many snapshots within one second")

    def _folders(self, namespace: str) -> list[Path]:
        root = self._root / namespace
        return sorted(entry for entry in root.iterdir() if entry.is_dir()) if root.is_dir() else []

    def _prune(self, namespace: str) -> None:
        for folder in self._folders(namespace)[: -self._keep]:
            shutil.rmtree(folder)
            log.info("%s: removed old snapshot %s", namespace, folder.name)


def _read_manifest(folder: Path) -> Manifest:
    try:
        document = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SnapshotError(f"snapshot {folder.name} has no readable manifest") from error
    if document.pop("version", None) != VERSION:
        raise SnapshotError(f"snapshot {folder.name} was made by another version of coldshelf")
    files = tuple(FileEntry(**entry) for entry in document.pop("files"))
    if any(entry.name != Path(entry.name).name for entry in files):
        raise SnapshotError(f"snapshot {folder.name} names files outside itself")
    return Manifest(**document, files=files)


def _copy(source: Path, folder: Path) -> FileEntry:
    target = folder / source.name
    shutil.copyfile(source, target)
    return FileEntry(target.name, target.stat().st_size, _sha256(target))


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
