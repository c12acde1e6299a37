"""Finished traces by what they depend on: an unchanged trial is not run again.

An entry is the digest of a trace and the trace, a line each: one flipped bit, and it is none.
"""

import hashlib
from pathlib import Path

from pydantic import ValidationError

from evals.dataset.memory import keep
from evals.models.trace import Trace


class TraceCache:
    """A folder of traces. A damaged entry is as good as none; failed trials are never kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, digest: str) -> Trace | None:
        """The trace stored under `digest`, if there is a sound one."""
        path = self._path(digest)
        try:
            stored, _, trace = path.read_bytes().partition(b"\n")
            return Trace.model_validate_json(trace) if stored == _seal(trace) else None
        except (OSError, ValidationError):
            return None

    def put(self, digest: str, trace: Trace) -> None:
        """Store a trace; readers see all of it or nothing. Raises OSError, which names the file."""
        if trace.provenance.label == "failed":
            return
        content = trace.model_dump_json().encode()
        keep(self._path(digest), _seal(content) + b"\n" + content)

    def _path(self, digest: str) -> Path:
        return self.folder / digest[:2] / f"{digest}.json"


def _seal(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
