"""One sitting at a job at a time: a lock beside the jobs file, which the system lets go when its process ends."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from triage.errors import InputError


@contextmanager
def held(jobs: Path, name: str) -> Iterator[None]:
    """Hold the job `name` of the file `jobs` until the block ends; the lock's file goes with it.

    Raises:
        InputError: somebody else holds it, or no file can be made there.
    """
    path = jobs.with_name(f"{jobs.name}.{name}.lock")
    try:
        file = path.open("w")
    except OSError as error:
        raise InputError(f"{jobs}: jobs cannot be kept there ({error.strerror}); name another with --jobs") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"job {name!r} is running already: wait for it, or stop it") from None
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
