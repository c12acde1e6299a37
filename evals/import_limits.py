"""Imports of the code under test: how long they take, outside the trial time limit, and what they may connect to."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Final

SLOW: Final = 7.0
"""Seconds after which an import is reported. Chosen by hand."""
START_UP: Final = 60.0
"""Seconds that a worker has on top of its trials: LangGraph and Chroma are loaded, and the case's code indexed."""
LONGEST_IMPORT: Final = 120.0
"""Seconds that the code under test may take to import, whichever command imports it. Chosen by hand."""


def too_long(what: str, seconds: float) -> str:
    """Says that an import was ended."""
    return f"importing {what} has not ended after {seconds:g} s: does it wait for something?"


@dataclass(frozen=True)
class Import:
    """A process begins to import `what`, or has ended it after `seconds`."""

    what: str
    seconds: float | None = None


listeners: Final[list[Callable[[Import], object]]] = []
"""Those that this process tells of its imports."""
_told: Final[set[str]] = set()


@contextmanager
def importing(what: str) -> Iterator[None]:
    """Tell the listeners that the block begins, and how long it took unless it fails."""
    began = perf_counter()
    for tell in listeners:
        tell(Import(what))
    yield
    for tell in listeners:
        tell(Import(what, perf_counter() - began))


def say_if_slow(done: Import) -> None:
    """One line on stderr for a slow import; nothing for the same import in another worker."""
    if (done.seconds or 0.0) > SLOW and done.what not in _told:
        _told.add(done.what)
        took = f"importing {done.what} took {done.seconds:.1f} s"
        logging.getLogger("evals").warning("evals: %s, before the first trial; no trial time limit counts it", took)


LIBRARY_FILES: Final = {
    "openaipublic.blob.core.windows.net": "tiktoken reads it from the folder TIKTOKEN_CACHE_DIR if it is there, else ",
    "huggingface.co": "set HF_HUB_OFFLINE=1 once its files are in the cache, else ",
}
"""Hosts from which libraries get files that they keep: how to do without."""


@dataclass
class ImportConnections:
    """What the import of a target may connect to, and what was refused. `hosts` and `addresses` as in a trial."""

    hosts: Any
    refused: list[str] = field(default_factory=list)
    addresses: set[str] = field(default_factory=set)

    def refuse(self, what: str, host: str, *, is_model: bool = False) -> str:
        """Note what was not let through, and return that with what to do."""
        setting = f"{LIBRARY_FILES.get(host, '')}name {host} in `pass_through` of [target] in evals.toml"
        setting += f", or `evals init --pass-through {host}`"
        why = (
            "a model is asked while the graph is imported; ask it in a node"
            if is_model
            else f"not let through; {setting}"
        )
        self.refused.append(f"{what}: {why}")
        return self.refused[-1]


connected: Final[set[str]] = set()
"""Hosts that imports of this process have connected to: what they answered is in all its trials."""
at_import: Final[ContextVar[ImportConnections | None]] = ContextVar("at_import", default=None)


@contextmanager
def connections_at_import(hosts: Any) -> Iterator[ImportConnections]:  # noqa: ANN401 - `Hosts`, of a module above
    """Connections of the block are those of an import; without hosts they are nobody's."""
    found = ImportConnections(hosts)
    token = at_import.set(found if hosts else None)
    try:
        yield found
    finally:
        at_import.reset(token)
        connected.update(found.addresses)
