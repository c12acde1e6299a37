"""Finished trials on disk under the digest of what they follow from, the installed packages included."""

import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from evals.content_cache import Kept, digest_of
from evals.installed_packages import Libraries, Listed
from evals.models.trace import Trace
from evals.runner.input_check import ChangedError
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

    def rename(self, digest: str, new: str) -> None:
        """Store a trace under another digest as well, if there is one. Raises OSError, which names the file."""
        content = self._kept.get(digest)
        if content is not None:
            self._kept.put(new, content)


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
        self._waiting: dict[str, Trace] = {}
        self._named: set[str] = set()
        self._flushed = time.monotonic()

    def get(self, digest: str) -> Trace | None:
        """The trace kept under `digest`, if there is a sound one."""
        name = self._name(digest)
        trace = None if name is None else self._traces.get(name)
        if trace is not None:
            self._named.add(digest)
        return trace

    def may_lack(self, digests: Iterable[str]) -> bool:
        """Whether one of the traces is not there; of one that is there, `get` knows if it is sound."""
        names = [self._name(digest) for digest in digests]
        return None in names or self._traces.may_lack(name for name in names if name is not None)

    def put(self, digest: str, trace: Trace) -> None:
        """Keep a trace, soon. Raises OSError, which names the file, and ChangedError as `flush` does."""
        self._waiting[digest] = trace
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
        for digest, trace in waiting.items():
            name = self._name(digest)
            if name is not None:
                self._traces.put(name, trace)
                self._named.add(digest)

    def _look_again(self) -> None:
        """Take the list of packages as it is now. Trials import packages when they need them, so it grows; trials that
        were kept before did not import what was added, and are kept under the longer list as well.

        Raises ChangedError as `flush` does.
        """
        before, now = self._listed, self._libraries.listed()
        if before is None:
            self._listed = now
            return
        if now is None or not now.extends(before):
            raise ChangedError(["installed packages"])
        if now.digest != before.digest:
            for digest in self._named:
                self._traces.rename(_under(before, digest), _under(now, digest))
        self._listed = now

    def _name(self, digest: str) -> str | None:
        if self._elsewhere:
            return digest_of(digest.encode(), ELSEWHERE.encode())
        return _under(self._listed, digest) if self._listed else None


def _under(listed: Listed, digest: str) -> str:
    return digest_of(digest.encode(), listed.digest.encode())


def note(cache: Path) -> None:
    """List what this process has imported, after a trial that imported something."""
    modules = len(sys.modules)
    if _noted.get(cache) != modules:
        _noted[cache] = modules
        Libraries(cache, LIST).note()


_noted: Final[dict[Path, int]] = {}
