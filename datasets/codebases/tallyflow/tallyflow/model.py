"""The values that flow through a pipeline. All times are aware and in UTC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias


class Quality(StrEnum):
    """How far a value can be trusted, from best to worst."""

    MEASURED = "measured"
    ESTIMATED = "estimated"
    SUSPECT = "suspect"
    MISSING = "missing"

    @classmethod
    def worst(cls, qualities: Sequence[Quality]) -> Quality:
        """The least trusted of some; MISSING if there are none."""
        return max(qualities, key=list(cls).index, default=cls.MISSING)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a meter showed at one moment. `origin` is `file:line`."""

    meter: str
    at: datetime
    value: float
    unit: str
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Flow:
    """An amount that passed between two moments, in the meter's reporting unit."""

    start: datetime
    end: datetime
    amount: float


@dataclass(frozen=True, slots=True)
class Slot:
    """One interval of a grid, half open: `start` belongs to it, `end` to the next."""

    start: datetime
    end: datetime

    def __contains__(self, at: datetime) -> bool:
        return self.start <= at < self.end

    def overlap(self, start: datetime, end: datetime) -> float:
        """Seconds that this slot shares with the span from `start` to `end`; 0 if they do not meet."""
        first, last = max(self.start, start), min(self.end, end)
        if last <= first:
            return 0.0
        return (last - first).total_seconds()


@dataclass(frozen=True, slots=True)
class Sample:
    """The value of one slot; None where nothing is known."""

    slot: Slot
    value: float | None
    quality: Quality = Quality.MEASURED


Row: TypeAlias = Reading | Flow | Sample
Table: TypeAlias = Mapping[str, Sequence[Row]]
"""What a step takes and gives: rows of one kind, by meter or by group."""
