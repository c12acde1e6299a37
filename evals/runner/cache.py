"""Finished traces by what they depend on: an unchanged trial is not run again.

An entry is the digest of a trace and the trace, a line each: one flipped bit, and it is none.
"""

import hashlib
import tempfile
from pathlib import Path

from pydantic import ValidationError

from evals.cassette.allowed_secrets import allowed_beside
from evals.cassette.hold_back import fit_to_write
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
        """Store a trace; readers see all of it or nothing. One that holds a secret is run again each time: it says so
        in texts of its own, as nothing that was recorded holds one."""
        if trace.provenance.label == "failed":
            return
        content = trace.model_dump_json()
        if fit_to_write(content, allowed_beside(self.folder)) != content:
            return
        path = self._path(digest)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as scratch:
            scratch.write(_seal(content.encode()) + b"\n" + content.encode())
        Path(scratch.name).replace(path)

    def _path(self, digest: str) -> Path:
        return self.folder / digest[:2] / f"{digest}.json"


def _seal(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
