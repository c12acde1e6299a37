"""From what a meter showed to what has passed through it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from itertools import pairwise

from tallyflow.errors import RegisterError
from tallyflow.meters import Meter
from tallyflow.model import Flow, Reading
from tallyflow.units import STANDARD, UnitTable

log = logging.getLogger(__name__)


def flows(meter: Meter, readings: Sequence[Reading], units: UnitTable = STANDARD) -> list[Flow]:
    """The amounts between consecutive readings, in the meter's reporting unit and after its transformers.

    Raises RegisterError for a register that falls, UnitError for a unit that does not fit the meter.
    """
    steps = pairwise(in_order(meter.name, readings))
    if meter.kind == "amount":
        return [_flow(meter, before, after, after.value, units) for before, after in steps]
    return [_flow(meter, before, after, _advance(meter, before, after), units) for before, after in steps]


def in_order(name: str, readings: Sequence[Reading]) -> Iterator[Reading]:
    """Readings by time, one per moment: the first of several counts, the others are logged."""
    latest: Reading | None = None
    for reading in sorted(readings, key=lambda reading: reading.at):
        if latest is not None and reading.at == latest.at:
            if reading.value != latest.value:
                log.warning("%s: second value %s left out (%s)", name, reading.value, reading.origin)
            continue
        latest = reading
        yield reading


def _flow(meter: Meter, before: Reading, after: Reading, counted: float, units: UnitTable) -> Flow:
    return Flow(before.at, after.at, units.scale(counted * meter.ratio, after.unit, meter.unit))


def _advance(meter: Meter, before: Reading, after: Reading) -> float:
    """How far the counter went; one that fell by more than half of its range has gone through zero."""
    moved = after.value - before.value
    if moved >= 0:
        return moved
    span = 10.0**meter.digits
    if meter.digits and -moved > span / 2:
        log.info("%s: counter passed zero at %s", meter.name, after.at.isoformat())
        return moved + span
    raise RegisterError(
        f"{meter.name}: register falls from {before.value} to {after.value}, "
        f"too little for a counter that passed zero; was the meter exchanged?"
    )
