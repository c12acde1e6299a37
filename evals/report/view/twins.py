"""Twins: cases that say the same in other words, and whether a variant treats them alike."""

from collections.abc import Sequence

from evals.models.measure import Twins
from evals.models.run import Run
from evals.report.numbers import NOTHING, percent
from evals.report.view.table import Table

_FATES = {1.0: "passed", 0.0: "failed"}


def twin_table(run: Run) -> Table:
    """A row per pair and endpoint, a column per variant; the last row of each endpoint counts."""
    names = tuple(info.variant.name for info in run.variants)
    found = {(item.endpoint, item.pair_id, item.variant): item for item in run.twins}
    endpoints = dict.fromkeys(item.endpoint for item in run.twins)
    rows = []
    for endpoint in endpoints:
        pairs = dict.fromkeys(item.pair_id for item in run.twins if item.endpoint == endpoint)
        for pair in pairs:
            mine = [found.get((endpoint, pair, name)) for name in names]
            first = next(item for item in mine if item is not None)
            rows.append((pair, " and ".join(first.archetypes), endpoint, *(_cell(item) for item in mine)))
        rows.append(("all pairs", "", endpoint, *(_alike(run.twins, endpoint, name) for name in names)))
    return Table("Twins, in the order of their archetypes", ("pair", "archetypes", "endpoint", *names), tuple(rows))


def _cell(item: Twins | None) -> str:
    if item is None:
        return NOTHING
    told = ", ".join("unjudged" if value is None else _FATES.get(value, percent(value)) for value in item.values)
    return told if item.consistent is None else f"{'✓' if item.consistent else '✗'} {told}"


def _alike(twins: Sequence[Twins], endpoint: str, variant: str) -> str:
    judged = [
        item.consistent
        for item in twins
        if (item.endpoint, item.variant) == (endpoint, variant) and item.consistent is not None
    ]
    return f"{sum(judged)} of {len(judged)} alike" if judged else NOTHING
