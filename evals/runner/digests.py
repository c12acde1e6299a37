"""What a trial's result depends on, as digests: when all are unchanged, so is the result."""

import hashlib
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import evals
from evals.subject.sources import graph_sources

# Beside the trial's own case, variant, prompt and cassette, these decide what a trace contains.
_HARNESS: Final = ("cassette", "dataset", "models", "runner", "subject")


def sha256(*parts: bytes) -> str:
    """One digest over parts of any length, in order."""
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def file_digest(path: Path) -> str:
    """The digest of a file's bytes; "absent" when there is none."""
    return sha256(path.read_bytes()) if path.exists() else "absent"


def digest_of_replaced(path: Path) -> str:
    """`file_digest` of a large file that is only ever replaced as a whole: read once for all trials."""
    if not path.exists():
        return file_digest(path)
    now = path.stat()
    return _digest_as_of(path, now.st_ino, now.st_mtime_ns, now.st_size)


@lru_cache(4)
def _digest_as_of(path: Path, _inode: int, _written_ns: int, _size: int) -> str:
    return file_digest(path)


@cache
def code_digest(lock: Path) -> str:
    """The digest of the graph's code and agent prompts, of the harness that drives it, and of the pinned libraries.

    Supervisor prompts are left out: each variant brings the digest of its own.
    """
    harness = Path(evals.__file__).parent
    files = [*graph_sources(), *(path for folder in _HARNESS for path in sorted((harness / folder).rglob("*.py")))]
    return sha256(*(part for path in files for part in (path.name.encode(), path.read_bytes())), *_bytes(lock))


def _bytes(path: Path) -> tuple[bytes, ...]:
    return (path.read_bytes(),) if path.exists() else ()
