"""Atomic file reads and writes with a lock per file."""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from evals.errors import CassetteError, ConfigurationError

LOCK_TIMEOUT_S: Final = 60.0  # a write takes milliseconds: whoever holds the lock longer is stopped, not busy

REMEDIES: Final = {
    errno.ENOSPC: "make room on that disk",
    errno.EDQUOT: "make room in your quota",
    errno.EFBIG: "raise the limit on file size",
    errno.EROFS: "make the folder writable",
    errno.EACCES: "make the folder writable",
    errno.EPERM: "make the folder writable",
    errno.ENOTDIR: "move the file that stands where a folder belongs",
    errno.EEXIST: "move the file that stands where a folder belongs",
}


def read(path: Path) -> bytes | None:
    """What is in the file, None if there is none. Raises CassetteError if it cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CassetteError(path, f"cannot be read ({error.strerror}); see what stands there") from None


def decoded(content: bytes, path: Path) -> str:
    """The text of a file's bytes. Raises CassetteError, with the line, if it is not UTF-8."""
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CassetteError(path, f"not UTF-8 at byte {error.start}, or truncated; restore the file", line) from None


@contextmanager
def writing(path: Path, by: str = "lock") -> Iterator[None]:
    """The only writer of `path` inside the block, in whatever process; its folder exists. Writers with a lock `by`
    another name do not wait for each other.

    Raises:
        CassetteError: the system refuses, in the block too, or another process holds the file.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_name(f".{path.name}.{by}"), timeout=LOCK_TIMEOUT_S):
            yield
    except Timeout:
        message = f"another process has been writing it for {LOCK_TIMEOUT_S:.0f} s; end that one, then run this again"
        raise CassetteError(path, message) from None
    except OSError as error:
        remedy = REMEDIES.get(error.errno or 0, "see to that")
        message = f"cannot be written ({error.strerror}); {remedy}, then run it again: what was there is still whole"
        raise CassetteError(path, message) from None


def replace(path: Path, text: str, *, synced: bool = True) -> None:
    """The file holds `text` from now on, or what it held before, whatever happens meanwhile; where it need not be
    `synced`, whatever but a power cut. Raises OSError."""
    temporary = path.with_name(f".{path.name}.tmp")  # one name: a killed writer's rest is overwritten
    try:
        with temporary.open("wb") as stream:
            stream.write(text.encode())
            stream.flush()
            if synced:
                os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    if not synced:
        return
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)  # the rename itself has to reach the disk
    finally:
        os.close(directory)


PREVIOUS: Final = "previous"
"""Where the report of the run before is, until there is a new one."""
_REPORT: Final = ("run.json", "summary.md", "junit.xml", "index.html")


@contextmanager
def new_report(folder: Path) -> Iterator[None]:
    """What is in the folder of a report is not taken for the report of the run in the block, whatever becomes of that:
    it is moved to `previous`, and goes when the block comes to its end.

    Raises:
        ConfigurationError: it cannot be moved.
    """
    before = folder / PREVIOUS
    try:
        if (folder / _REPORT[0]).is_file():
            before.mkdir(exist_ok=True)
            for name in _REPORT:  # the verdict first: a page without it is no report of anything
                if (folder / name).is_file():
                    (folder / name).replace(before / name)
    except OSError as error:
        raise ConfigurationError(f"{folder}: cannot be written ({error.strerror}); name another --out") from error
    yield
    shutil.rmtree(before, ignore_errors=True)


def write_files(folder: Path, files: Mapping[str, str | Iterable[str]]) -> None:
    """Write texts, or the pieces of texts, by name into a folder; each appears whole or not at all.

    Raises:
        ConfigurationError: the folder cannot be written.
    """
    place = folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            place = folder / name
            _replace(place, text)
    except OSError as error:
        raise ConfigurationError(f"{place}: cannot be written ({error.strerror}); name another --out") from error


def _replace(path: Path, text: str | Iterable[str]) -> None:
    prefix = f".{path.name}."  # what a kill leaves of it is no file of the report
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=prefix, encoding="utf-8", delete=False) as scratch:
        try:
            scratch.writelines((text,) if isinstance(text, str) else text)
            scratch.close()
            os.chmod(scratch.name, 0o644)  # noqa: PTH101 - temporary files are private; a report is for everyone
            Path(scratch.name).replace(path)
        except BaseException:  # a folder of that name, a full disk, Ctrl-C: nothing half written stays
            Path(scratch.name).unlink(missing_ok=True)
            raise
