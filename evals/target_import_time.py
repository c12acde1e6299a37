"""Report imports of the code under test: how long they take, outside the trial time limit."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Final

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
