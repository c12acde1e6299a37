"""Tables of text: one column per meter or site, one line per slot, and a summary below."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tallyflow.model import Quality, Sample, Slot
from tallyflow.rolling import CompensatedSum
from tallyflow.timegrid import Grid

MARKS = {Quality.MEASURED: " ", Quality.ESTIMATED: "~", Quality.SUSPECT: "!", Quality.MISSING: " "}
NOTHING = "."


def render(table: Mapping[str, Sequence[Sample]], grid: Grid, places: int = 1, limit: int | None = None) -> str:
    """A table of samples as text; `limit` keeps the last lines only, the summary is always over all of them."""
    names = sorted(table)
    slots = sorted({sample.slot for samples in table.values() for sample in samples}, key=lambda slot: slot.start)
    cells = {name: {sample.slot: _cell(sample, places) for sample in table[name]} for name in names}
    lines = [[grid.label(slot), *(cells[name].get(slot, NOTHING) for name in names)] for slot in _last(slots, limit)]
    summary = [
        ["total", *(_total(table[name], places) for name in names)],
        ["known", *(_share(table[name], _is_known) for name in names)],
        ["estimated", *(_share(table[name], _is_estimated) for name in names)],
    ]
    return _aligned([["", *names], *lines, *summary])


def _cell(sample: Sample, places: int) -> str:
    if sample.value is None:
        return NOTHING
    return f"{sample.value:.{places}f}{MARKS[sample.quality]}".rstrip()


def _total(samples: Sequence[Sample], places: int) -> str:
    return f"{CompensatedSum(sample.value for sample in samples if sample.value is not None).value:.{places}f}"


def _share(samples: Sequence[Sample], wanted: Callable[[Sample], bool]) -> str:
    if not samples:
        return NOTHING
    count = sum(1 for sample in samples if wanted(sample))
    return f"{100 * count / len(samples):.0f}%"


def _is_known(sample: Sample) -> bool:
    return sample.value is not None


def _is_estimated(sample: Sample) -> bool:
    return sample.quality is Quality.ESTIMATED


def _last(slots: Sequence[Slot], limit: int | None) -> Sequence[Slot]:
    return slots if limit is None else slots[-limit:] if limit else ()


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(_padded(row, widths)).rstrip() for row in rows)


def _padded(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    numbers = zip(row[1:], widths[1:], strict=True)
    return [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in numbers)]
