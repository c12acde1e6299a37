"""Finished traces by what they depend on: an unchanged trial is not run again."""

from pathlib import Path

from pydantic import ValidationError

from evals.kept import Kept
from evals.models.trace import Trace


class TraceCache:
    """A folder of traces. A damaged entry is as good as none; failed trials are never kept."""

    def __init__(self, folder: Path) -> None:
        self._kept = Kept(folder)

    def get(self, digest: str) -> Trace | None:
        """The trace stored under `digest`, if there is a sound one."""
        trace = self._kept.get(digest)
        try:
            return None if trace is None else Trace.model_validate_json(trace)
        except ValidationError:
            return None

    def put(self, digest: str, trace: Trace) -> None:
        """Store a trace."""
        if trace.provenance.label != "failed":
            self._kept.put(digest, trace.model_dump_json().encode())
