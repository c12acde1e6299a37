"""What is said of a variant as a whole, where no case has a value of its own: one row per measure."""

from evals.models.measure import Measure, MeasureInfo
from evals.models.run import Run
from evals.report.numbers import NOTHING, percent, signed
from evals.report.view.table import Table


def measure_table(run: Run) -> Table:
    """Every measure of every variant; no row for a run from before there were any."""
    if not run.measure_infos:
        return Table("", (), ())
    names = tuple(info.variant.name for info in run.variants)
    found = {(item.variant, item.name): item for item in run.measures}
    return Table(
        "Over all cases of a variant: value [95 %], and what it was made of",
        ("measure", "better", *names),
        tuple(
            (info.name, info.better, *(cell(found[name, info.name], info) for name in names))
            for info in run.measure_infos
        ),
    )


def cell(item: Measure, info: MeasureInfo) -> str:
    """A measure in one cell, never without its count; a missing one says why."""
    rests_on = f"{item.n} of {item.of} {info.counted}"
    if item.value is None:
        return f"{NOTHING}: {item.why_not} ({rests_on})"
    interval = f" [{_shown(item.low, info)}, {_shown(item.high, info)}]" if item.low is not None else ""
    return f"{_shown(item.value, info)}{interval} ({rests_on}){_bounds(item, info)}{_chance(item, info)}"


def _bounds(item: Measure, info: MeasureInfo) -> str:
    if item.pessimistic is None or item.pessimistic == item.optimistic:
        return ""
    return f", {_shown(item.pessimistic, info)} to {_shown(item.optimistic, info)} with the rest"


def _chance(item: Measure, info: MeasureInfo) -> str:
    if item.null_low is None:
        return ""
    return f", chance alone {_shown(item.null_low, info)} to {_shown(item.null_high, info)}"


def _shown(value: float | None, info: MeasureInfo) -> str:
    return percent(value) if info.unit == "fraction" else signed(value)
