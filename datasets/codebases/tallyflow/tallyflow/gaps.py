"""Filling in what nobody measured."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tallyflow.model import Quality, Sample

log = logging.getLogger(__name__)

METHODS = ("linear", "hold", "zero", "none")


@dataclass(frozen=True)
class Gap:
    """A run of missing samples: positions `first` to `last`, both included."""

    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first + 1


def gaps(samples: Sequence[Sample]) -> Iterator[Gap]:
    """Every run of samples without a value, by time."""
    start: int | None = None
    for position, sample in enumerate(samples):
        if sample.value is None and start is None:
            start = position
        elif sample.value is not None and start is not None:
            yield Gap(start, position - 1)
            start = None
    if start is not None:
        yield Gap(start, len(samples) - 1)


def fill(name: str, samples: Sequence[Sample], method: str, max_gap: int) -> list[Sample]:
    """Samples with gaps of up to `max_gap` slots filled; longer ones stay as they are."""
    filled = list(samples)
    for gap in gaps(samples):
        first = samples[gap.first].slot.start.isoformat()
        if method == "none" or len(gap) > max_gap:
            log.warning("%s: gap of %d from %s stays open", name, len(gap), first)
            continue
        values = _values(samples, gap, method)
        for position, value in zip(range(gap.first, gap.last + 1), values, strict=True):
            if value is not None:
                filled[position] = replace(samples[position], value=value, quality=Quality.ESTIMATED)
        log.info("%s: gap of %d from %s filled (%s)", name, len(gap), first, method)
    return filled


def _values(samples: Sequence[Sample], gap: Gap, method: str) -> list[float | None]:
    if method == "zero":
        return [0.0] * len(gap)
    before = samples[gap.first - 1].value if gap.first > 0 else None
    after = samples[gap.last + 1].value if gap.last + 1 < len(samples) else None
    if method == "hold" or before is None or after is None:
        return [before if before is not None else after] * len(gap)
    step = (after - before) / (len(gap) + 1)
    return [before + step * number for number in range(1, len(gap) + 1)]
