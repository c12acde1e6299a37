"""Large falls of metrics that decide nothing: told beside a green verdict, never a reason for another one.

A fall is told if it is at least 10 points and significant at alpha divided by the number of metrics looked at
(Bonferroni), by the test that decides about primary metrics: exact McNemar or a sign flip over clusters. Each variant
is held against its baseline, and the candidate against the reference. Where a suite has so few cases that no fall could
be significant, every fall of 10 points against a baseline is told: at replay nothing moves by chance.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan, nan
from typing import Final, NamedTuple

from evals.judging.comparison import Against, compare
from evals.judging.material import Material
from evals.judging.scoring import scorer_infos
from evals.models.run import Baseline, ScorerInfo

LEAST: Final = 0.10
"""A smaller fall (as a fraction) is not told."""
Values = Mapping[str, Mapping[str, float]]
"""Metric -> case -> value."""


class _Fall(NamedTuple):
    metric: str
    variant: str
    before: float
    after: float
    """NaN where it has no value any more."""
    cases: int
    against: str
    """In words."""

    @property
    def size(self) -> float:
        return 0.0 if isnan(self.after) else abs(self.after - self.before)


def falls(material: Material, now: Baseline) -> tuple[str, ...]:
    """One sentence per metric and kind of comparison, the largest fall first; last, metrics without any value left.
    `now` is what these trials would be blessed as.
    """
    alike: dict[tuple[str, str, int, bool], list[_Fall]] = {}
    for names, present, was, against in _sides(material, now):
        for fall in _of_side(material, names, present, was, against):
            alike.setdefault((fall.metric, fall.against, fall.cases, isnan(fall.after)), []).append(fall)
    found = sorted(alike.values(), key=lambda some: -max(fall.size for fall in some))
    return tuple(_sentence(some) for some in found)


def _sentence(some: Sequence[_Fall]) -> str:
    one, names = some[0], ", ".join(fall.variant for fall in some)
    if isnan(one.after):
        return f"{one.metric} of {names} has no value any more; it had one for {one.cases} cases"
    changes = ", ".join(f"{_percent(fall.before)} to {_percent(fall.after)} ({fall.variant})" for fall in some)
    word = "fell" if one.after < one.before else "rose"
    return f"{one.metric} {word} from {changes} over {one.cases} cases {one.against}"


def _percent(value: float) -> str:
    return f"{value * 100:.0f} %"


def _sides(material: Material, now: Baseline) -> Iterator[tuple[tuple[str, str], Values, Values, Against]]:
    suite, before = material.suite, material.baseline
    present = {name: _by_metric(now.values.get(name, {})) for name in material.names}
    if {suite.candidate, suite.reference} <= present.keys():
        yield (suite.candidate, suite.reference), present[suite.candidate], present[suite.reference], "reference"
    for name in material.names:
        stored = before.values.get(name, {}) if before else {}
        if stored and stored != now.values.get(name):
            yield (name, f"{name} (baseline)"), present[name], _by_metric(stored), "baseline"


def _by_metric(cases: Mapping[str, Mapping[str, float]]) -> Values:
    found: dict[str, dict[str, float]] = {}
    for case, values in cases.items():
        for metric, value in values.items():
            found.setdefault(metric, {})[case] = value
    return found


def _metrics() -> list[ScorerInfo]:
    """What has a smallest and a largest value, so that points mean something."""
    return [info for info in scorer_infos() if not info.primary and info.unit == "fraction"]


def _of_side(material: Material, names: tuple[str, str], now: Values, was: Values, against: Against) -> Iterator[_Fall]:
    metrics = _metrics()
    strict = material.suite.gate.model_copy(update={"alpha": material.suite.gate.alpha / len(metrics)})
    clusters = {case.id: case.cluster for case in material.cases}
    for metric in metrics:
        had = was.get(metric.name, {})
        left, right = _both(now.get(metric.name, {}), had, clusters)
        if had and metric.name not in now and against == "baseline" and _is_recorded(material, names[0]):
            yield _Fall(metric.name, names[0], nan, nan, len(had), "")
        if not left:
            continue
        before, after = sum(right.values()) / len(right), sum(left.values()) / len(left)
        if (before - after if metric.better == "higher" else after - before) < LEAST:
            continue
        if metric.better == "lower":
            left, right = _turned(left), _turned(right)
        (item,) = compare({names: {metric.name: (left, right)}}, clusters, against, strict)
        untestable = against == "baseline" and item.minimum_detectable is None
        if item.verdict == "regression" or untestable:
            said = "since the baseline" if against == "baseline" else f"against {names[1]}"
            said += " (too few cases for a test)" if untestable else ""
            yield _Fall(metric.name, names[0], before, after, item.n, said)


def _both(
    now: Mapping[str, float], was: Mapping[str, float], clusters: Mapping[str, str]
) -> tuple[dict[str, float], dict[str, float]]:
    """The cases both sides have a value for."""
    shared = [case for case in now if case in was and case in clusters]
    return {case: now[case] for case in shared}, {case: was[case] for case in shared}


def _turned(values: Mapping[str, float]) -> dict[str, float]:
    """So that higher is better."""
    return {case: 1 - value for case, value in values.items()}


def _is_recorded(material: Material, variant: str) -> bool:
    mine = [trial.trace.provenance.label for trial in material.trials if trial.trace.variant == variant]
    return bool(mine) and all(label == "exact" for label in mine)
