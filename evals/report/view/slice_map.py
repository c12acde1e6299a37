"""Heat map of slices by variant: how many trials of a slice pass each primary metric, with links to the others."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from evals.models.metrics import Scored
from evals.models.run import Run
from evals.report.numbers import NOTHING
from evals.report.view.case_table import marked
from evals.report.view.page_parts import ListLink, Lists

LEVELS: Final = 4
"""Shades of a cell, by the share of its trials that do not pass."""


@dataclass(frozen=True)
class SliceCell:
    """Passed of scored trials, linked to the cases that do not pass; `level` is from 0 (all pass) to `LEVELS`."""

    passed: ListLink
    level: str


@dataclass(frozen=True)
class SliceMap:
    """A row per slice; its cells by metric, and by variant inside a metric."""

    metrics: tuple[str, ...]
    variants: tuple[str, ...]
    rows: tuple[tuple[str, tuple[SliceCell, ...]], ...]


def slice_map(run: Run, lists: Lists) -> SliceMap:
    """Counts, not rates: slices are small."""
    metrics = tuple(name for name, _ in marked(run.scorers))
    variants = tuple(info.variant.name for info in run.variants)
    slices = {case.id: case.archetype for case in run.cases}
    values: dict[tuple[str, str, str], list[tuple[str, float]]] = defaultdict(list)
    for trial in run.trials:
        for metric in metrics:
            outcome = trial.outcomes.get(metric)
            if isinstance(outcome, Scored):
                case = trial.trace.case_id
                values[slices[case], metric, trial.trace.variant].append((case, outcome.value))
    return SliceMap(
        metrics,
        variants,
        tuple(
            (
                name,
                tuple(
                    _cell(f"{name}, {variant}: {metric} not passed", values[name, metric, variant], lists)
                    for metric in metrics
                    for variant in variants
                ),
            )
            for name in sorted(set(slices.values()))
        ),
    )


def _cell(title: str, values: list[tuple[str, float]], lists: Lists) -> SliceCell:
    if not values:
        return SliceCell(ListLink(NOTHING, ""), "0")
    failed = [case for case, value in values if value != 1]
    share = len(failed) / len(values)
    level = max(1, round(share * LEVELS)) if failed else 0
    return SliceCell(lists.link(f"{len(values) - len(failed)}/{len(values)}", title, failed), str(level))
