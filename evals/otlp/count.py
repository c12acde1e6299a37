"""What an export comes to, in one line that is true of what leaves: traces, spans, and what was withheld."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from evals.cassette.hold_back import held_back
from evals.cassette.redact import WITHHELD
from evals.otlp import names
from evals.otlp.planned import ROOT, PlannedTrace


class Count:
    """Counts the traces that pass through it, each made fit to leave on its way."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self.traces = 0
        self.withheld = 0
        self._spans: Counter[str] = Counter()
        self._events = 0
        self._times: Counter[str] = Counter()

    def passing(self, traces: Iterable[PlannedTrace]) -> Iterator[PlannedTrace]:
        """The traces, every text withheld that a cassette beside the run would refuse.

        Raises:
            ConfigurationError: the file of allowed secrets is wrong.
        """
        for trace in traces:
            fit = held_back(trace, self._run)
            self._add(fit)
            yield fit

    def __str__(self) -> str:
        of_kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self._spans.items()))
        times = ", ".join(f"{count} {kind}" for kind, count in sorted(self._times.items()))
        withheld = f"; texts withheld, since they hold a secret: {self.withheld}" if self.withheld else ""
        traces = f"{self.traces} {'trace' if self.traces == 1 else 'traces'}"
        spans = f"{self._spans.total()} spans ({of_kinds})"
        return f"{traces} with {spans} and {self._events} events; times: {times}{withheld}"

    def _add(self, trace: PlannedTrace) -> None:
        self.traces += 1
        self.withheld += trace.model_dump_json().count(WITHHELD)
        for span in trace.spans:
            self._spans[str(span.attributes[names.OPERATION])] += 1
            self._events += len(span.events)
            if span.path == ROOT:
                self._times[str(span.attributes[names.TIMES])] += 1
