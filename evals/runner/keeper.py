"""Keeps the finished trials of a run under what they follow from, the installed packages included.

Traces are written a few seconds' worth at a time: before each writing the packages are looked at, which takes some
milliseconds.
"""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from evals.kept import digest_of
from evals.libraries import Libraries
from evals.models.trace import Trace
from evals.runner.cache import TraceCache
from evals.runner.pins import ChangedError

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
        self._flushed = time.monotonic()

    def get(self, digest: str) -> Trace | None:
        """The trace kept under `digest`, if there is a sound one."""
        name = self._name(digest)
        return None if name is None else self._traces.get(name)

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
        if self._listed is None and not self._elsewhere:
            self._listed = self._libraries.listed()
        elif self._listed is not None and not self._listed.is_as_it_was:
            # where files are linked to an installer's cache, another installation changes their entries
            now = self._libraries.listed()
            if now is None or now.digest != self._listed.digest:
                raise ChangedError(["installed packages"])
            self._listed = now
        for digest, trace in waiting.items():
            name = self._name(digest)
            if name is not None:
                self._traces.put(name, trace)

    def _name(self, digest: str) -> str | None:
        environment = ELSEWHERE if self._elsewhere else self._listed.digest if self._listed else None
        return None if environment is None else digest_of(digest.encode(), environment.encode())


def note(cache: Path) -> None:
    """List what this process has imported, once it has run a trial."""
    if cache not in _noted:
        _noted.add(cache)
        Libraries(cache, LIST).note()


_noted: Final[set[Path]] = set()
