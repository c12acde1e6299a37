"""Adding up: over time, over meters, and one table against another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tallyflow.errors import ConfigError
from tallyflow.meters import Meter
from tallyflow.model import Quality, Sample, Slot
from tallyflow.rolling import CompensatedSum
from tallyflow.timegrid import Grid

Samples = Mapping[str, Sequence[Sample]]


def coarser(samples: Sequence[Sample], grid: Grid) -> list[Sample]:
    """Samples added up into the larger slots of `grid`, by time."""
    groups: dict[Slot, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(grid.slot(sample.slot.start), []).append(sample)
    return [_added(slot, groups[slot]) for slot in sorted(groups, key=lambda slot: slot.start)]


def by_site(table: Samples, meters: Mapping[str, Meter]) -> dict[str, list[Sample]]:
    """One row of samples per site: the sum of its meters, slot by slot. Raises ConfigError for mixed units."""
    members: dict[str, list[str]] = {}
    for name in table:
        members.setdefault(meters[name].site, []).append(name)
    return {site: _together(site, names, table, meters) for site, names in sorted(members.items())}


def minus(table: Samples, other: Samples) -> dict[str, list[Sample]]:
    """What `table` has more than `other`, for every name and slot that both have."""
    result: dict[str, list[Sample]] = {}
    for name, samples in table.items():
        known = {sample.slot: sample for sample in other.get(name, ())}
        pairs = [(sample, known[sample.slot]) for sample in samples if sample.slot in known]
        result[name] = [_difference(one, two) for one, two in pairs]
    return result


def merged(tables: Sequence[Samples]) -> dict[str, list[Sample]]:
    """Several tables as one; where a slot has several values, the first table that knows one wins."""
    found: dict[str, dict[Slot, Sample]] = {}
    for table in tables:
        for name, samples in table.items():
            row = found.setdefault(name, {})
            for sample in samples:
                if sample.slot not in row or row[sample.slot].value is None:
                    row[sample.slot] = sample
    return {name: sorted(row.values(), key=lambda sample: sample.slot.start) for name, row in found.items()}


def _together(site: str, names: Sequence[str], table: Samples, meters: Mapping[str, Meter]) -> list[Sample]:
    units = {meters[name].unit for name in names}
    if len(units) > 1:
        raise ConfigError(f"site {site!r} mixes {', '.join(sorted(units))}; give its meters one reporting unit")
    groups: dict[Slot, list[Sample]] = {}
    for name in names:
        for sample in table[name]:
            groups.setdefault(sample.slot, []).append(sample)
    return [_added(slot, groups[slot]) for slot in sorted(groups, key=lambda slot: slot.start)]


def _added(slot: Slot, samples: Sequence[Sample]) -> Sample:
    """Known values are added, and the sum is as good as the worst of them; without any, the value stays unknown."""
    total = CompensatedSum(sample.value for sample in samples if sample.value is not None)
    if not total.count:
        return Sample(slot, None, Quality.MISSING)
    quality = Quality.worst([sample.quality for sample in samples])
    return Sample(slot, total.value, Quality.ESTIMATED if quality is Quality.MISSING else quality)


def _difference(one: Sample, other: Sample) -> Sample:
    if one.value is None or other.value is None:
        return Sample(one.slot, None, Quality.MISSING)
    return Sample(one.slot, one.value - other.value, Quality.worst([one.quality, other.quality]))
