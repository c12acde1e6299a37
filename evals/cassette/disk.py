"""Whole files or none: read, replaced atomically, one writer at a time; what the system refuses is said in words."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from evals.errors import CassetteError

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
