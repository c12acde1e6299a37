"""Finished trials on disk under the digest of what they follow from, the installed packages included."""

import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from evals.content_cache import Kept, digest_of
from evals.installed_packages import Libraries
from evals.models.trace import Trace
from evals.runner.pinned_inputs import ChangedError
from evals.secrets.allowed_secrets import allowed_beside
from evals.secrets.secret_filter import fit_to_write


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

    def has(self, digest: str) -> bool:
        """Whether a trace is there; `get` knows if it is sound."""
        return self._kept.has(digest)

    def put(self, digest: str, trace: Trace) -> None:
        """Store a trace, if it may be. Raises OSError, which names the file."""
        if content := self.content(trace):
            self.write(digest, content)

    def content(self, trace: Trace) -> bytes | None:
        """What is stored of a trace: nothing of a failed one, and of one that holds a secret, which is run again each
        time. It has it from its case, as nothing that was recorded holds one."""
        if trace.provenance.label == "failed":
            return None
        text = trace.model_dump_json()
        return text.encode() if fit_to_write(text, allowed_beside(self._kept.folder)) == text else None

    def write(self, digest: str, content: bytes) -> None:
        """Store the content of a trace. Raises OSError, which names the file."""
        self._kept.put(digest, content)


LIST: Final = "trials"
"""Name of the list of packages that trials follow from."""
FLUSH: Final = 3.0
"""Seconds between two writings."""
ELSEWHERE: Final = "elsewhere"
"""In the place of a digest, for trials that ran on other machines: their packages are compared by version only."""


class Keeper:
    """The kept trials of a checkout. Close it at the end.

    Nothing is found as long as nobody has listed what is installed: `note` does, after the first trial.
    """

    def __init__(self, cache: Path, *, elsewhere: bool = False) -> None:
        self._traces = TraceCache(cache / LIST)
        self._libraries = Libraries(cache, LIST)
        self._elsewhere = elsewhere
        self._listed = None if elsewhere else self._libraries.listed()
        self._waiting: dict[str, bytes] = {}
        self._flushed = time.monotonic()

    def get(self, digest: str) -> Trace | None:
        """The trace kept under `digest`, if there is a sound one."""
        found = map(self._traces.get, self._names(digest))
        return next((trace for trace in found if trace is not None), None)

    def may_lack(self, digests: Iterable[str]) -> bool:
        """Whether one of the traces is not there; of one that is there, `get` knows if it is sound."""
        return not all(any(map(self._traces.has, self._names(digest))) for digest in digests)

    def put(self, digest: str, trace: Trace) -> None:
        """Keep a trace, soon. Raises OSError, which names the file, and ChangedError as `flush` does."""
        if content := self._traces.content(trace):  # now, while workers run trials
            self._waiting[digest] = content
        if time.monotonic() - self._flushed > FLUSH:
            self.flush()

    def close(self) -> None:
        """`flush`, however the run ends."""
        self.flush()

    def flush(self) -> None:
        """Write what waits.

        Raises:
            ChangedError: an installed package holds something else than when the run began: nobody knows what the
                trials since the last writing have run with, and they are not kept.
        """
        waiting, self._waiting, self._flushed = self._waiting, {}, time.monotonic()
        if not waiting:
            return
        if not self._elsewhere:
            self._look_again()
        for digest, content in waiting.items():
            for name in self._names(digest)[:1]:
                self._traces.write(name, content)

    def _look_again(self) -> None:
        """Take the list of packages as it is now: trials import packages when they need them, so it grows.

        Raises ChangedError as `flush` does.
        """
        before, self._listed = self._listed, self._libraries.listed()
        if before is not None and (self._listed is None or not self._listed.extends(before)):
            raise ChangedError(["installed packages"])

    def _names(self, digest: str) -> list[str]:
        """What a trace may be stored under, the present list of packages first; nothing as long as there is none."""
        if self._elsewhere:
            return [digest_of(digest.encode(), ELSEWHERE.encode())]
        lists = (self._listed.digest, *self._listed.earlier) if self._listed else ()
        return [digest_of(digest.encode(), each.encode()) for each in lists]


def note(cache: Path) -> None:
    """List what this process has imported, after a trial that imported something."""
    modules = len(sys.modules)
    if _noted.get(cache) != modules:
        _noted[cache] = modules
        Libraries(cache, LIST).note()


_noted: Final[dict[Path, int]] = {}
