"""Bringing flows and levels onto a grid."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime

from tallyflow.meters import Meter
from tallyflow.model import Flow, Quality, Reading, Sample, Slot
from tallyflow.rolling import CompensatedSum
from tallyflow.timegrid import Grid
from tallyflow.units import STANDARD, UnitTable


def spread(flows: Sequence[Flow], grid: Grid) -> list[Sample]:
    """The amount in each slot. A flow that crosses slots is divided among them by time, as if it had run evenly."""
    sums: dict[Slot, CompensatedSum] = {}
    for flow in flows:
        length = (flow.end - flow.start).total_seconds()
        for slot in grid.slots(flow.start, flow.end):
            share = slot.overlap(flow.start, flow.end) / length
            sums.setdefault(slot, CompensatedSum()).add(flow.amount * share)
    return _without_holes({slot: total.value for slot, total in sums.items()}, grid)


def average(meter: Meter, readings: Sequence[Reading], grid: Grid, units: UnitTable = STANDARD) -> list[Sample]:
    """The mean of the readings in each slot, in the meter's reporting unit. Raises UnitError."""
    found: dict[Slot, list[float]] = {}
    for reading in readings:
        value = units.convert(reading.value, reading.unit, meter.unit)
        found.setdefault(grid.slot(reading.at), []).append(value)
    return _without_holes({slot: math.fsum(values) / len(values) for slot, values in found.items()}, grid)


def _without_holes(values: dict[Slot, float], grid: Grid) -> list[Sample]:
    """A sample for every slot from the first to the last; what nobody measured is missing."""
    if not values:
        return []
    return [
        Sample(slot, values[slot]) if slot in values else Sample(slot, None, Quality.MISSING)
        for slot in grid.slots(*_span(values))
    ]


def _span(slots: Iterable[Slot]) -> tuple[datetime, datetime]:
    slots = list(slots)
    return min(slot.start for slot in slots), max(slot.end for slot in slots)
