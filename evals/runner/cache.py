"""Finished traces by what they depend on: an unchanged trial is not run again."""

from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from evals.cassette.allowed_secrets import allowed_beside
from evals.cassette.hold_back import fit_to_write
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

    def may_lack(self, digests: Iterable[str]) -> bool:
        """Whether one of the traces is not there; of one that is there, `get` knows if it is sound."""
        return not all(map(self._kept.has, digests))

    def put(self, digest: str, trace: Trace) -> None:
        """Store a trace. One that holds a secret is run again each time: it has it from its case, as nothing that was
        recorded holds one. Raises OSError, which names the file."""
        if trace.provenance.label == "failed":
            return
        content = trace.model_dump_json()
        if fit_to_write(content, allowed_beside(self._kept.folder)) == content:
            self._kept.put(digest, content.encode())
