"""Cost of the candidate against the reference, and the limits of a suite's `gate.cost`."""

from collections.abc import Mapping
from typing import Final

from evals.comparison.metric_summaries import Material, case_means
from evals.models.run import CostChange
from evals.models.suite import CostLimit
from evals.statistics.intervals import FEWEST_CLUSTERS, Interval, mean, mean_interval

METRICS: Final[Mapping[str, str]] = {
    "tokens": "cost.tokens",
    "calls": "cost.llm_calls",
    "price": "cost.price_usd",
    "steps": "cost.visits",
    "recorded_time": "cost.latency_s",
}
"""Name in `gate.cost` -> metric."""
SHOWN: Final = ("tokens", "calls")
"""The first of these that has values is told where no limit names it."""


def cost_changes(material: Material) -> tuple[CostChange, ...]:
    """Every cost that has a limit, and the first of `SHOWN` that has values, each over the cases that have one.

    The other side is the reference; in a suite with one variant, its baseline.
    """
    limits = material.suite.gate.cost
    changes = {name: _change(material, name, limits.get(name)) for name in dict.fromkeys((*limits, *SHOWN))}
    shown = next((name for name in SHOWN if changes[name].n), "")
    return tuple(change for name, change in changes.items() if name in limits or name == shown)


def _change(material: Material, name: str, limit: CostLimit | None) -> CostChange:
    suite, metric = material.suite, METRICS[name]
    now = case_means(material.trials, suite.candidate, metric)
    alone = suite.candidate == suite.reference
    was = _blessed(material, metric) if alone else case_means(material.trials, suite.reference, metric)
    absolute = limit is not None and not isinstance(limit, str)
    cases = [case for case in now if absolute or case in was]
    found = CostChange(
        name=name,
        left=suite.candidate,
        right="its baseline" if alone else suite.reference,
        n=len(cases),
        missing=len(_finished(material) - set(cases)),
        before=None if absolute else mean([was[case] for case in cases]),
        after=mean([now[case] for case in cases]),
        limit=limit,
    )
    if found.size is None:
        return found
    values = [now[case] for case in cases]
    if found.before:  # a ratio of means, by its linear approximation (delta method): ratio + mean(left - ratio * right)
        values = [found.size + (now[case] - (1 + found.size) * was[case]) / found.before for case in cases]
    clusters = material.clusters
    interval = _interval(values, [clusters[case] for case in cases])
    return found.model_copy(update={"low": interval.low, "high": interval.high}) if interval else found


def _interval(values: list[float], owners: list[str]) -> Interval | None:
    """None for too few clusters; values that are all alike have an interval without width."""
    if len(set(owners)) < FEWEST_CLUSTERS:
        return None
    return mean_interval(values, owners) or Interval(values[0], values[0])


def _finished(material: Material) -> set[str]:
    """Cases that the candidate was run on to the end, and so should have a cost."""
    mine = (trial.trace for trial in material.trials if trial.trace.variant == material.suite.candidate)
    return {trace.case_id for trace in mine if trace.provenance.label == "exact"}


def _blessed(material: Material, metric: str) -> dict[str, float]:
    stored = material.baseline.values.get(material.suite.candidate, {}) if material.baseline else {}
    return {case: values[metric] for case, values in stored.items() if metric in values}
