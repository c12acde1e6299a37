"""The store of released packages below the cache."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Final

from evals.content_cache import Kept, digest_of
from evals.errors import NotFetchedError
from evals.models.released_package import Release
from evals.triage.dataset.releases.unpack import unpack


@dataclass(frozen=True)
class Shelf:
    """The releases below a cache folder."""

    cache: Path

    @property
    def folder(self) -> Path:
        """All of it."""
        return self.cache / "releases"

    def archive(self, release: Release) -> Path | None:
        """The downloaded file, if it is here and has its sha256; one that has not is removed."""
        folder = self.folder / "archives" / release.sha256
        found = next((path for path in folder.glob("*") if path.is_file()), None)
        if found is not None and sha256_of(found) != release.sha256:
            shutil.rmtree(folder)
            return None
        return found

    def keep(self, release: Release, downloaded: Path) -> Path:
        """Take in a file that was checked; it appears whole or not at all."""
        folder = self.folder / "archives" / release.sha256
        folder.mkdir(parents=True, exist_ok=True)
        return downloaded.replace(folder / downloaded.name)

    def put(self, release: Release) -> Path:
        """The unpacked release, unpacked now if need be. Raises ReleaseError; NotFetchedError without an archive."""
        place = self._place(release)
        if self._is_whole(place):
            return place
        archive = self.archive(release)
        if archive is None:
            raise NotFetchedError(f"{release} is not here; {FETCH}")
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".unpacking-", dir=place.parent) as scratch:
            built = Path(scratch) / "files"
            unpack(archive, release, built)
            self._listings.put(place.name, json.dumps(contents(built), sort_keys=True).encode())
            shutil.rmtree(place, ignore_errors=True)
            built.rename(place)
        _digests_of.cache_clear()
        return place

    def unpacked(self, release: Release) -> Path:
        """The folder to import it from. Raises NotFetchedError: it is not here, or not as it was unpacked."""
        place = self._place(release)
        if not place.is_dir():
            raise NotFetchedError(f"{release} is not here; {FETCH}")
        if not self._is_whole(place):
            raise NotFetchedError(f"{release} below .cache is not as it was unpacked: files changed or gone; {FETCH}")
        return place

    def missing(self, releases: Iterable[Release]) -> list[Release]:
        """Those that are not here, or not whole, in their order and each once."""
        return [release for release in dict.fromkeys(releases) if not self._is_whole(self._place(release))]

    def _place(self, release: Release) -> Path:
        return self.folder / "unpacked" / release.name

    def _is_whole(self, place: Path) -> bool:
        listed = self._listings.get(place.name)
        return listed is not None and place.is_dir() and json.loads(listed) == _digests_of(place, _stamp(place))

    @property
    def _listings(self) -> Kept:
        return Kept(self.folder / "listings")


FETCH: Final = "run `evals dataset fetch --dataset released`"


def contents(folder: Path) -> dict[str, str]:
    """Every file below a folder by its path, with its sha256; bytecode left out."""
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in files}


def sha256_of(path: Path) -> str:
    """Of a file's bytes, hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _stamp(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Names, sizes and times: as long as they stand, so do the digests of this process."""
    return tuple(sorted((file.path, file.stat().st_size, file.stat().st_mtime_ns) for file in _files(folder)))


def _files(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Every file below a folder; an entry knows what `Path.stat` would ask the system for again."""
    folders = [str(folder)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.is_file():
                    yield entry


@lru_cache(256)
def _digests_of(folder: Path, _stamped: tuple[tuple[str, int, int], ...]) -> dict[str, str]:
    return contents(folder)


RULE: Final = b"1"
"""Rises with the rule: another tree gets another name."""
TEST_FOLDERS: Final = frozenset({"test", "tests"})


def tree_name(release: Release) -> str:
    """What the search tree of a release is called: by its file's sha256 and by the rule."""
    return f"{release.package}-{release.version}-{digest_of(RULE, release.sha256.encode())[:16]}"


def is_searched(path: PurePosixPath) -> bool:
    """Whether a file of the unpacked release, by its path in it, belongs to the search tree."""
    named_test = path.name.startswith("test_") or path.name.endswith("_test.py") or path.name == "conftest.py"
    metadata = path.parts[0].endswith((".dist-info", ".data", ".egg-info"))
    return path.suffix == ".py" and not named_test and not metadata and TEST_FOLDERS.isdisjoint(path.parts[:-1])


def copy_searched(unpacked: Path, tree: Path) -> None:
    """The search tree of an unpacked release, as a new folder `tree`."""
    tree.mkdir()
    for file in sorted(unpacked.rglob("*.py")):
        path = PurePosixPath(file.relative_to(unpacked).as_posix())
        if is_searched(path):
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, tree / path)
