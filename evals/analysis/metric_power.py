"""Power of each metric of a run: headroom, noise between repeats, smallest detectable drop, and redundancy."""

import math
from collections.abc import Sequence
from statistics import fmean, variance
from typing import Final, Literal, NamedTuple

import numpy as np

from evals.comparison.metric_summaries import case_means
from evals.comparison.paired_comparison import compare
from evals.models.metrics import Scored
from evals.models.run import Run, ScorerInfo

SAME: Final = 0.8
"""Two metrics with at least this correlation over the cases of the reference say the same."""
FEWEST_SHARED: Final = 10
"""Below so many common cases no correlation is computed."""

Use = Literal["can decide", "same", "losses only", "cannot decide"]


class MetricPower(NamedTuple):
    """What one metric can show. Fractions are 0 to 1, from the metric's bad end to its good one."""

    metric: str
    primary: bool
    cases: int
    mean: float
    """Of the reference."""
    headroom: float
    """What is left above the better of candidate and reference."""
    floor: float | None
    noise: float | None
    """Standard deviation between repeats of one case under the reference; None without repeats."""
    detectable: float | None
    """The smallest drop that 80 of 100 comparisons call a regression, if this metric alone decided."""
    cases_for_margin: int | None
    """About how many cases would make a drop of the suite's margin detectable: cases * (detectable / margin)^2."""
    use: Use
    same_as: str = ""


def metric_powers(run: Run) -> list[MetricPower]:
    """Every metric that is a fraction and has a value per case, the smallest detectable drop first."""
    values = {info.name: both for info in run.scorers if info.unit == "fraction" and (both := _both(run, info))}
    found = [_power(run, info, *values[info.name]) for info in run.scorers if info.name in values]
    found.sort(key=lambda item: (item.detectable is None, item.detectable, item.metric))
    return _without_redundant(found, {name: reference for name, (_, reference) in values.items()})


def recommended(powers: Sequence[MetricPower]) -> list[str]:
    """Metrics that can show gains as well as losses, one of each group that says the same."""
    return [item.metric for item in powers if item.use == "can decide"]


Values = dict[str, float]
"""Case -> value, higher is better."""


def _both(run: Run, info: ScorerInfo) -> tuple[Values, Values] | None:
    """Values of candidate and reference on the cases that both have; None where there are none."""
    sides = [case_means(run.trials, name, info.name) for name in (run.candidate, run.reference)]
    if info.better == "lower":
        sides = [{case: 1 - value for case, value in side.items()} for side in sides]
    shared = sides[0].keys() & sides[1].keys()
    if not shared:
        return None
    left, right = ({case: value for case, value in side.items() if case in shared} for side in sides)
    return left, right


def _power(run: Run, info: ScorerInfo, now: Values, was: Values) -> MetricPower:
    clusters = {case.id: case.cluster for case in run.cases}
    (compared,) = compare({(run.candidate, run.reference): {info.name: (now, was)}}, clusters, "reference", run.gate)
    detectable = compared.minimum_detectable
    headroom = 1 - max(fmean(now.values()), fmean(was.values()))
    use: Use = "can decide" if detectable is not None and headroom >= detectable else "losses only"
    return MetricPower(
        metric=info.name,
        primary=info.primary,
        cases=len(was),
        mean=fmean(was.values()),
        headroom=headroom,
        floor=next((each.share for each in run.dataset_baselines if each.endpoint == info.name), None),
        noise=_noise(run, info.name),
        detectable=detectable,
        cases_for_margin=math.ceil(len(was) * (detectable / run.gate.margin) ** 2) if detectable else None,
        use="cannot decide" if detectable is None else use,
    )


def _noise(run: Run, metric: str) -> float | None:
    """Root of the mean variance (n - 1) of a case's repeats."""
    repeats: dict[str, list[float]] = {}
    for trial in run.trials:
        outcome = trial.outcomes.get(metric)
        if trial.trace.variant == run.reference and isinstance(outcome, Scored):
            repeats.setdefault(trial.trace.case_id, []).append(outcome.value)
    spread = [variance(values) for values in repeats.values() if len(values) > 1]
    return math.sqrt(fmean(spread)) if spread else None


def _without_redundant(powers: Sequence[MetricPower], values: dict[str, Values]) -> list[MetricPower]:
    """Of metrics that say the same, the first keeps its use."""
    kept: list[str] = []
    found = []
    for item in powers:
        if item.use != "can decide":
            found.append(item)
        elif first := next((name for name in kept if _correlation(values[name], values[item.metric]) >= SAME), ""):
            found.append(item._replace(use="same", same_as=first))
        else:
            kept.append(item.metric)
            found.append(item)
    return found


def _correlation(one: Values, other: Values) -> float:
    """Pearson's, over the cases both have; 0 where one of them does not vary."""
    shared = sorted(one.keys() & other.keys())
    if len(shared) < FEWEST_SHARED:
        return 0.0
    left, right = (np.array([side[case] for case in shared]) for side in (one, other))
    if not left.std() or not right.std():
        return 0.0
    return float(np.corrcoef(left, right)[0, 1])
