"""Finished traces by content digest: an unchanged trial is not run again."""

import tempfile
from pathlib import Path

from pydantic import ValidationError

from evals.models.trace import Trace


class TraceCache:
    """A folder of traces. A damaged entry is as good as none; failed trials are never kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, digest: str) -> Trace | None:
        """The trace stored under `digest`, if there is a sound one."""
        path = self._path(digest)
        try:
            return Trace.model_validate_json(path.read_bytes())
        except (OSError, ValidationError):
            return None

    def put(self, digest: str, trace: Trace) -> None:
        """Store a trace; readers see all of it or nothing."""
        if trace.provenance.label == "failed":
            return
        path = self._path(digest)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as scratch:
            scratch.write(trace.model_dump_json().encode())
        Path(scratch.name).replace(path)

    def _path(self, digest: str) -> Path:
        return self.folder / digest[:2] / f"{digest}.json"
