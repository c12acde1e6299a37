"""How a trial is told: what its times are, and whether its words are."""

from dataclasses import dataclass
from typing import Final

from evals.models.suite import Models
from evals.models.trace import Trace
from evals.otlp import names
from evals.otlp.planned import Attributes, Times
from evals.otlp.tapes import Tapes

TICK: Final = 1_000_000
"""Nanoseconds a step is drawn with where nobody knows how long it took."""


@dataclass(frozen=True)
class Telling:
    """What the spans of one trial have in common. `tapes` hold its words, where they are wanted."""

    trace: Trace
    models: Models
    times: Times
    conversation: str
    tapes: Tapes | None

    @property
    def shared(self) -> Attributes:
        """What every span says."""
        return {names.CONVERSATION: self.conversation, names.TIMES: self.times}

    @property
    def nothing(self) -> int:
        """How long a step without calls is drawn, in nanoseconds."""
        return TICK if self.times == "order" else 0


def times_of(trace: Trace) -> Times:
    """`recorded` only where every call of the trial says how long it took."""
    return "recorded" if trace.calls and all(call.latency_ms > 0 for call in trace.calls) else "order"
