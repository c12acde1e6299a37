"""The store of released packages below the cache, and the release that a case is about."""

import hashlib
import json
import os
import re
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import IO, Annotated, Final

from pydantic import Field

from evals.content_cache import Kept, digest_of
from evals.errors import NotFetchedError, ReleaseError
from evals.models.base import Closed

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
PackageName = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$")]
Version = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.!+_-]*$")]


class Release(Closed):
    """One release. `sha256` (hex) is that of its pure-Python wheel, or of its sdist where it has no such wheel."""

    package: PackageName
    version: Version
    sha256: Sha256

    @property
    def name(self) -> str:
        """What its files are kept under; another file of the same version gets another name."""
        return f"{self.package}-{self.version}-{self.sha256[:16]}"

    def __str__(self) -> str:
        return f"{self.package} {self.version}"


class ReleaseFix(Closed):
    """The release that mended a fault: of the case's own package, or of the dependency named."""

    package: PackageName | None = None
    version: Version
    sha256: Sha256

    def release_of(self, own: str) -> Release:
        """The release, where the case is about the package `own`."""
        return Release(package=self.package or own, version=self.version, sha256=self.sha256)


FILES: Final = 20_000
BYTES: Final = 200_000_000
COMPILED: Final = frozenset({".so", ".pyd", ".dll", ".dylib"})
SOURCES_OF_COMPILED: Final = frozenset({".c", ".cc", ".cpp", ".pyx", ".pxd", ".rs"})
NOT_INSTALLED: Final = frozenset({"setup.py", "conftest.py", "noxfile.py", "tasks.py"})
NO_PACKAGE: Final = frozenset({"test", "tests", "doc", "docs", "example", "examples", "benchmark", "benchmarks"})
_WHEEL: Final = re.compile(r".+-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl")
_PIECE: Final = 1 << 16
_DAMAGED: Final = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError, NotImplementedError)


@dataclass(frozen=True)
class Member:
    """One file of an archive; `size` is what the archive says of it, which is not believed."""

    path: PurePosixPath
    size: int
    opened: Callable[[], IO[bytes]]


def unpack(archive: Path, release: Release, folder: Path) -> None:
    """Write what can be imported of the release in file `archive` into the new folder `folder`.

    Raises ReleaseError: the archive is damaged, is not pure Python, or holds what no package needs.
    """
    folder.mkdir()
    try:
        if archive.suffix in {".whl", ".zip"}:
            with zipfile.ZipFile(archive) as opened:
                _write(_zipped(opened, release), archive, release, folder)
        else:
            with tarfile.open(archive) as packed:
                _write(_tarred(packed, release), archive, release, folder)
    except _DAMAGED as error:
        raise ReleaseError(
            f"{release}: {archive.name} is truncated or damaged ({type(error).__name__}: {error}); fetch it again, and "
            "if it stays so, choose another release"
        ) from None


def _write(members: Iterator[Member], archive: Path, release: Release, folder: Path) -> None:
    found = _bounded(members, release)
    kept = _pure_wheel(found, archive, release) if archive.suffix == ".whl" else _as_installed(found, release)
    written = 0
    for path, member in kept:
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        with member.opened() as source, place.open("xb") as target:
            while piece := source.read(_PIECE):
                written += len(piece)
                if written > BYTES:
                    raise ReleaseError(f"{release}: unpacks to more than {BYTES:,} bytes; choose another package")
                target.write(piece)


def _bounded(members: Iterator[Member], release: Release) -> list[Member]:
    found: list[Member] = []
    size = 0
    for member in members:
        found.append(member)
        size += member.size
        if len(found) > FILES or size > BYTES:
            bound = f"{FILES:,} files" if len(found) > FILES else f"{BYTES:,} bytes"
            raise ReleaseError(f"{release}: unpacks to more than {bound}; choose another package")
    return found


def _zipped(archive: zipfile.ZipFile, release: Release) -> Iterator[Member]:
    for info in archive.infolist():
        kind = stat.S_IFMT(info.external_attr >> 16)
        if info.is_dir():
            continue
        if kind not in {0, stat.S_IFREG}:
            raise ReleaseError(f"{release}: {info.filename!r} is a link or a device; a package needs none")

        def opened(info: zipfile.ZipInfo = info) -> IO[bytes]:
            return archive.open(info)

        yield Member(_inside(info.filename, release), info.file_size, opened)


def _tarred(archive: tarfile.TarFile, release: Release) -> Iterator[Member]:
    for info in archive:
        if info.isdir():
            continue
        if not info.isfile():
            raise ReleaseError(f"{release}: {info.name!r} is a link or a device; a package needs none")

        def opened(info: tarfile.TarInfo = info) -> IO[bytes]:
            found = archive.extractfile(info)
            assert found is not None  # noqa: S101 - it is a file
            return found

        yield Member(_inside(info.name, release), info.size, opened)


def _inside(name: str, release: Release) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name or "\0" in name or not path.parts:
        raise ReleaseError(f"{release}: {name!r} leads out of the package's folder; do not use this archive")
    return path


def _pure_wheel(found: list[Member], archive: Path, release: Release) -> Iterator[tuple[PurePosixPath, Member]]:
    """Everything in it, by the name of the file and by what is inside."""
    tags = _WHEEL.fullmatch(archive.name)
    if tags is None or tags["abi"] != "none" or tags["platform"] != "any" or "py3" not in tags["python"]:
        raise ReleaseError(f"{release}: {archive.name} is no pure-Python wheel (py3-none-any); it carries C code")
    for member in found:
        if member.path.suffix in COMPILED:
            raise ReleaseError(f"{release}: {member.path} is compiled; only pure-Python packages can be used")
        yield member.path, member


def _as_installed(found: list[Member], release: Release) -> Iterator[tuple[PurePosixPath, Member]]:
    """What an installation would take over, by the usual layouts; and its metadata, where `importlib` looks."""
    inner = {PurePosixPath(*member.path.parts[1:]): member for member in found if len(member.path.parts) > 1}
    for path in inner:
        if path.suffix in COMPILED | SOURCES_OF_COMPILED and NO_PACKAGE.isdisjoint(path.parts):
            raise ReleaseError(f"{release}: its sdist holds {path}; only packages without C code can be used")
    from_src = any(path.parts[0] == "src" and path.suffix == ".py" for path in inner)
    rooted = {
        PurePosixPath(*path.parts[1:]) if from_src else path: member
        for path, member in inner.items()
        if len(path.parts) > 1 or not from_src
        if not from_src or path.parts[0] == "src"
    }
    packages = {path.parts[0] for path in rooted if len(path.parts) == 2 and path.name == "__init__.py"} - NO_PACKAGE
    for path, member in rooted.items():
        is_module = len(path.parts) == 1 and path.suffix == ".py" and path.name not in NOT_INSTALLED
        if is_module or (len(path.parts) > 1 and path.parts[0] in packages):
            yield path, member
    about = inner.get(PurePosixPath("PKG-INFO"))
    if about is not None:
        yield PurePosixPath(f"{release.package.replace('-', '_')}-{release.version}.dist-info", "METADATA"), about


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
