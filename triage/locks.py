"""One sitting at a job at a time: a lock beside the jobs file, which the system lets go when its process ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from triage.errors import InputError
from triage.private_files import make_private


@contextmanager
def held(jobs: Path, name: str) -> Iterator[None]:
    """Hold the job `name` of the file `jobs` until the block ends; the lock's file goes with it.

    Raises:
        InputError: somebody else holds it, or no file can be made there.
    """
    path = jobs.with_name(f"{jobs.name}.{name}.lock")
    try:
        make_private(path)
        file = path.open("w")
    except OSError as error:
        raise InputError(f"{jobs}: jobs cannot be kept there ({error.strerror}); name another with --jobs") from error
    with file:
        if not _locked(file, path):
            raise InputError(f"job {name!r} is running already: wait for it, or stop it")
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _locked(file: TextIO, path: Path) -> bool:
    """Whether the lock is ours; not on a file that its holder removed between our opening and our locking it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(file.fileno()).st_ino == path.stat().st_ino
    except (BlockingIOError, FileNotFoundError):
        return False
