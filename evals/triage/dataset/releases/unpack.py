"""Unpack wheels and source archives safely."""

import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Final

from evals.errors import ReleaseError
from evals.models.released_package import Release

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
