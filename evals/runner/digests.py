"""What a trial's result depends on, as digests: when all are unchanged, so is the result."""

from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from evals.kept import digest_of
from evals.package import PACKAGE
from evals.subject.sources import graph_sources

# Beside the trial's own case, variant, prompt and cassette, these decide what a trace contains.
_HARNESS: Final = ("cassette", "dataset", "models", "runner", "subject")


def file_digest(path: Path) -> str:
    """The digest of a file's bytes; "absent" when there is none."""
    return digest_of(path.read_bytes()) if path.exists() else "absent"


def digest_of_replaced(path: Path) -> str:
    """`file_digest` of a file that is only ever replaced as a whole, as cassettes and vectors are: read once for all
    trials."""
    if not path.exists():
        return file_digest(path)
    now = path.stat()
    return _digest_as_of(path, now.st_ino, now.st_mtime_ns, now.st_size)


@lru_cache(1024)
def _digest_as_of(path: Path, _inode: int, _written_ns: int, _size: int) -> str:
    return file_digest(path)


@cache
def code_digest(lock: Path) -> str:
    """The digest of the graph's code and agent prompts, of the harness that drives it, and of the pinned libraries.

    Supervisor prompts are left out: each variant brings the digest of its own.
    """
    files = [*graph_sources(), *(path for folder in _HARNESS for path in sorted((PACKAGE / folder).rglob("*.py")))]
    return digest_of(*(part for path in files for part in (path.name.encode(), path.read_bytes())), *_bytes(lock))


def _bytes(path: Path) -> tuple[bytes, ...]:
    return (path.read_bytes(),) if path.exists() else ()
