"""What one trial asked and got: agents and tools swallow exceptions, the ledger does not."""

from dataclasses import dataclass, field

from evals.cassette.store import Interaction
from evals.errors import EvalsError


@dataclass(frozen=True)
class MissRecord:
    """One request nobody recorded.

    `path` is the URL path with its query, `body` the bytes as sent, `served_before` the number of requests of this
    trial that had been answered when it was made.
    """

    key: str
    sample: int
    agent: str
    method: str
    path: str
    model: str
    body: bytes
    served_before: int = 0


@dataclass
class Ledger:
    """Grows only, in the order things happened. A trial is exact as long as `misses` is empty; `failures` are what went
    wrong while its requests were recorded."""

    served: list[Interaction] = field(default_factory=list)
    misses: list[MissRecord] = field(default_factory=list)
    failures: list[EvalsError] = field(default_factory=list)
