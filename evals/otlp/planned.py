"""Spans as they are planned: plain data, so that what must not leave can be withheld from it, and counted."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field

from evals.models.closed import Closed

Attribute = bool | int | float | str | tuple[str, ...]
Attributes = dict[str, Attribute]
Times = Literal["recorded", "order"]
"""`recorded`: as long as each call took when it was recorded. `order`: nobody knows; one came before the other."""
Ns = Annotated[int, Field(ge=0)]
"""Nanoseconds since the trial began."""
ROOT: Final = "trial"


class PlannedEvent(Closed):
    """Something that happened at one moment of a span."""

    name: str
    at: Ns
    attributes: Attributes


class PlannedSpan(Closed):
    """A span: `path` tells it from all others of its trace and names the same step in every export; the root has no
    `parent`, the path of another one. It has failed where its attributes have an `error.type`."""

    path: str
    parent: str | None
    name: str
    kind: Literal["internal", "client"]
    start: Ns
    end: Ns
    attributes: Attributes
    events: tuple[PlannedEvent, ...] = ()


class PlannedTrace(Closed):
    """One trial, parents before their children. `identity` is what makes it this trace and no other: the run's digest,
    case, variant, sample."""

    identity: tuple[str, ...]
    resource: Attributes
    spans: tuple[PlannedSpan, ...]


def known(attributes: Mapping[str, Attribute | None]) -> Attributes:
    """Those that have a value: what nobody knows is left out, never sent as 0 or as an empty text."""
    return {name: value for name, value in attributes.items() if value is not None and value not in ("", ())}
