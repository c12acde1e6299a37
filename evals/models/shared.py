"""Equal parts of results, kept once: variants of a case hear the same answers, and most scores are 0 or 1.

A part is known by its JSON, so that two are the same only if they are written alike; what is made of the results does
not change by a byte.
"""

import sys
from collections.abc import Iterable
from hashlib import blake2b
from typing import TypeVar

from evals.models.closed import Closed
from evals.models.run import Trial
from evals.models.trace import Trace

Part = TypeVar("Part", bound=Closed)


class Shared:
    """The parts of the results that were seen so far. It is dropped when the last result is there."""

    def __init__(self) -> None:
        self._parts: dict[tuple[type, bytes], Closed] = {}
        self._names: dict[tuple[str, ...], tuple[str, ...]] = {}

    def trace(self, trace: Trace) -> Trace:
        """The same trace, of shared parts."""
        parts = {
            "visits": self._all(trace.visits),
            "decisions": self._all(trace.decisions),
            "calls": self._all(trace.calls),
            "points": self._all(trace.points),
            "repository_files": self._names.setdefault(trace.repository_files, trace.repository_files),
            "topology": sys.intern(trace.topology),
        }
        return trace.model_copy(update={name: part for name, part in parts.items() if name in trace.model_fields_set})

    def trial(self, trial: Trial) -> Trial:
        """The same trial, its outcomes shared."""
        outcomes = {sys.intern(name): self._one(outcome) for name, outcome in trial.outcomes.items()}
        reading = self._one(trial.reading) if trial.reading else None
        return trial.model_copy(update={"outcomes": outcomes, "reading": reading})

    def _all(self, parts: Iterable[Part]) -> tuple[Part, ...]:
        return tuple(self._one(part) for part in parts)

    def _one(self, part: Part) -> Part:
        name = type(part), blake2b(part.model_dump_json().encode(), digest_size=16).digest()
        found = self._parts.setdefault(name, part)
        return found if isinstance(found, type(part)) else part
