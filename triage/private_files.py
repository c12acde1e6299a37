"""Folders and files that nobody but their owner can read: a job holds the issue, and what was read of the code."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

from triage.settings import DEFAULT_JOBS

_NAME: Final = DEFAULT_JOBS.parent.name


def private_folder(folder: Path) -> Path:
    """The folder, made with mode 0700 if it is missing, as are those above it; one that is there keeps its mode.

    A folder `.triage` on the way is hidden from git, by a `.gitignore` inside it.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)
    for each in (folder, *folder.parents):
        if each.name == _NAME:
            _close(each)
            break
    return folder


def remove_unused(folder: Path) -> None:
    """Remove a folder of `private_folder` that nothing was put into; one that holds anything stays."""
    with suppress(OSError):
        if folder.name == _NAME and [each.name for each in folder.iterdir()] == [".gitignore"]:
            (folder / ".gitignore").unlink()
        folder.rmdir()


def _close(folder: Path) -> None:
    """Folders of before were readable to all, and known to git."""
    with suppress(OSError):
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)
        if not (ignored := folder / ".gitignore").exists():
            write_private(ignored, "*\n")


@contextmanager
def open_private(path: Path, mode: str) -> Iterator[IO[Any]]:
    """The file, opened for writing with mode 0600, whatever it had before."""
    with open(path, mode, encoding=None if "b" in mode else "utf-8", opener=_opened) as file:
        yield file


def write_private(path: Path, text: str) -> None:
    """Write the file, for its owner's eyes only."""
    with open_private(path, "w") as file:
        file.write(text)


def make_private(path: Path) -> None:
    """Make the file, empty and with mode 0600, if it is missing; else take from others what they may do with it. What
    cannot be done is left to whoever opens the file to say."""
    with suppress(OSError):
        os.close(_opened(str(path), os.O_CREAT | os.O_RDWR))


def _opened(path: str, flags: int) -> int:
    descriptor = os.open(path, flags, 0o600)
    with suppress(OSError):  # somebody else's file that we may write
        if os.fstat(descriptor).st_mode & 0o077:
            os.fchmod(descriptor, 0o600)
    return descriptor
