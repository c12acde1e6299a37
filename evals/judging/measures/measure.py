"""What a measure is: one number of a variant over all its cases, where single cases have none.

@measure("ask.balanced_accuracy", unit="fraction", better="higher", counted="cases")
def balanced_accuracy(evidence: Evidence) -> Found:
    \"\"\"The definition the report shows.\"\"\"
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from evals.judging.measures.evidence import Evidence
from evals.models.measure import Counted, Measure, MeasureInfo, MeasureUnit
from evals.stats.intervals import Interval


@dataclass(frozen=True)
class Found:
    """A value and what it rests on. `bounds` are (pessimistic, optimistic), `null` is what chance alone gives; without
    a value `why_not` says why."""

    value: float | None
    n: int
    of: int
    interval: Interval | None = None
    bounds: tuple[float, float] | None = None
    null: Interval | None = None
    why_not: str = ""


MeasuringFunction = Callable[[Evidence], Found]


@dataclass(frozen=True)
class Measuring:
    """A function that measures, and how the report explains it."""

    info: MeasureInfo
    function: MeasuringFunction

    def of(self, evidence: Evidence) -> Measure:
        """The measure of one variant."""
        found = self.function(evidence)
        low, high = found.interval or (None, None)
        pessimistic, optimistic = found.bounds or (None, None)
        null_low, null_high = found.null or (None, None)
        return Measure(
            variant=evidence.variant,
            name=self.info.name,
            value=found.value,
            low=low,
            high=high,
            n=found.n,
            of=found.of,
            pessimistic=pessimistic,
            optimistic=optimistic,
            null_low=null_low,
            null_high=null_high,
            why_not=found.why_not if found.value is None else "",
        )


def measure(
    name: str, *, unit: MeasureUnit, better: Literal["higher", "lower"], counted: Counted
) -> Callable[[MeasuringFunction], Measuring]:
    """Make a function of the evidence a measure; its docstring, on one line, is the definition."""

    def made(function: MeasuringFunction) -> Measuring:
        definition = " ".join((inspect.getdoc(function) or "").split())
        if not definition:
            raise ValueError(f"measure {name!r} has no docstring: write its definition there")
        return Measuring(
            MeasureInfo(name=name, unit=unit, better=better, counted=counted, definition=definition), function
        )

    return made
