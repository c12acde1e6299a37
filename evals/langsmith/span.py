"""One run of LangSmith as it is sent, and the clock that gives a recorded trial times.

A recording knows how long each request took, not when. So a trial begins when its experiment does, its steps follow one
another, and a step nobody timed takes a millisecond: enough to keep the order, and nothing to read a latency from.
"""

import datetime as dt
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from uuid import UUID

from evals.langsmith.identity import run_id

Kind = Literal["chain", "llm", "tool"]
UNTIMED_MS: Final = 1.0


@dataclass
class Clock:
    """What time it is in a trial."""

    now: dt.datetime

    def pass_ms(self, milliseconds: float) -> None:
        """Let that much time go by."""
        self.now += dt.timedelta(milliseconds=milliseconds)


@dataclass(frozen=True)
class Experiment:
    """Where runs go: the project, and when it began (UTC, whole milliseconds)."""

    id: UUID
    begun: dt.datetime


@dataclass
class Span:
    """A run while it is put together; children are begun with `child`, and it ends with the last of them."""

    experiment: Experiment
    clock: Clock
    path: str
    name: str
    kind: Kind = "chain"
    inputs: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Any] | None = None
    error: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    parent: "Span | None" = None
    example: UUID | None = None
    children: "list[Span]" = field(default_factory=list)

    def __post_init__(self) -> None:
        self.start = self.clock.now
        self.end = self.start
        self.id = run_id(self.experiment.id, self.path, self.start)
        own = f"{self.start:%Y%m%dT%H%M%S%f}Z{self.id}"
        self.order: str = f"{self.parent.order}.{own}" if self.parent else own

    def child(self, path: str, name: str, kind: Kind = "chain", **told: Any) -> "Span":  # noqa: ANN401 - fields of a span
        """The next step inside this one, beginning now."""
        made = Span(self.experiment, self.clock, f"{self.path} {path}", name, kind, parent=self, **told)
        self.children.append(made)
        return made

    def close(self) -> None:
        """It ends now; a step in which nothing happened takes the least time there is."""
        if self.clock.now == self.start:
            self.clock.pass_ms(UNTIMED_MS)
        self.end = self.clock.now

    @property
    def root(self) -> "Span":
        """The trial's own run."""
        return self.parent.root if self.parent else self

    def sent(self) -> dict[str, Any]:
        """As the SDK takes it."""
        return {
            "id": str(self.id),
            "trace_id": str(self.root.id),
            "parent_run_id": str(self.parent.id) if self.parent else None,
            "dotted_order": self.order,
            "session_id": str(self.experiment.id),
            "reference_example_id": str(self.example) if self.example else None,
            "name": self.name,
            "run_type": self.kind,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "error": self.error,
            "start_time": self.start.isoformat(),
            "end_time": self.end.isoformat(),
            "extra": {"metadata": self.metadata},
            "tags": list(self.tags),
        }

    def told(self) -> dict[str, Any]:
        """The words of it, without ids and times."""
        kept = ("name", "inputs", "outputs", "error", "extra", "tags")
        return {name: value for name, value in self.sent().items() if name in kept}

    def all(self) -> "list[Span]":
        """This one and all below it, parents first."""
        return [self, *(below for child in self.children for below in child.all())]
