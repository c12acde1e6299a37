"""Losses of metrics: values that are gone, and large falls of metrics that decide nothing."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan, nan
from typing import Final, NamedTuple

from evals.comparison.metric_summaries import Material, case_means
from evals.comparison.paired_comparison import Against, compare
from evals.models.metrics import Failed
from evals.models.run import Baseline, ScorerInfo, Trial
from evals.scoring.route_scorers import state_grades
from evals.shared.display_text import counted, some

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


def _metrics(material: Material) -> list[ScorerInfo]:
    """What has a smallest and a largest value, so that points mean something."""
    return [info for info in material.metrics if not info.primary and info.unit == "fraction"]


def _of_side(material: Material, names: tuple[str, str], now: Values, was: Values, against: Against) -> Iterator[_Fall]:
    metrics = _metrics(material)
    if not metrics:
        return
    strict = material.suite.gate.model_copy(update={"alpha": material.suite.gate.alpha / len(metrics)})
    clusters = material.clusters
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


Place = tuple[str, str]
"""A case with one of its decision points, or with "" where the metric has one value per case."""


def lost_values(material: Material, now: Baseline) -> tuple[str, ...]:
    """One sentence per variant and primary metric: against its baseline, and of the candidate against the reference.
    `now` is what these trials would be blessed as: where it has every value, the trials are not looked at again.
    """
    primary = [scorer for scorer in material.metrics if scorer.primary]
    found = [*_since_blessed(material, now, primary), *_against_reference(material, primary)]
    return tuple(found)


def _since_blessed(material: Material, now: Baseline, primary: Sequence[ScorerInfo]) -> Iterator[str]:
    baseline = material.baseline
    if baseline is None:
        return
    for name in material.names:
        for scorer in primary:
            had = _blessed(material, baseline, name, scorer)
            if had <= _blessed(material, now, name, scorer):
                continue
            gone = had - _present(material, name, scorer)
            if lost := {place for place in gone if _recorded(material.trials, name, place[0], scorer)}:
                yield (
                    f"{scorer.name} of {name} has a value for {len(had) - len(lost)} of the {_counted(had)} "
                    f"it had one for when it was blessed, under the same labels ({_some(lost)})"
                )


def _against_reference(material: Material, primary: Sequence[ScorerInfo]) -> Iterator[str]:
    """Only what the candidate was not blessed without: a metric may not apply to it."""
    name, reference = material.suite.candidate, material.suite.reference
    if not {name, reference} <= set(material.names):
        return
    blessed = material.baseline.values.get(name, {}) if material.baseline else {}
    for scorer in primary:
        had = {(case, "") for case in case_means(material.trials, reference, scorer.name)}
        had -= {(case, "") for case, values in blessed.items() if scorer.name not in values}
        gone = had - {(case, "") for case in case_means(material.trials, name, scorer.name)}
        if lost := {place for place in gone if _recorded(material.trials, name, place[0], scorer)}:
            yield (
                f"{scorer.name} of {name} has a value for {len(had) - len(lost)} of the {_counted(had)} "
                f"that {reference} has one for ({_some(lost)})"
            )


def _blessed(material: Material, baseline: Baseline, variant: str, scorer: ScorerInfo) -> set[Place]:
    """What had a value in a baseline, of the cases that are still the same."""
    values = baseline.values.get(variant, {})
    same = {case.id: case for case in material.cases if baseline.cases.get(case.id) == case.digest}
    cases = {(case, "") for case in values.keys() & same.keys() if scorer.name in values[case]}
    states = baseline.states.get(variant, {})
    if not scorer.macro or not states:
        return cases
    return {(case, point.id) for case, _ in cases for point in same[case].points if point.id in states.get(case, {})}


def _present(material: Material, variant: str, scorer: ScorerInfo) -> set[Place]:
    if not scorer.macro or not (material.baseline and material.baseline.states.get(variant)):
        return {(case, "") for case in case_means(material.trials, variant, scorer.name)}
    cases = material.by_id
    return {(state.case_id, state.point) for state in state_grades(material.trials, cases, variant, scorer.name)}


def _recorded(trials: Sequence[Trial], variant: str, case: str, scorer: ScorerInfo) -> bool:
    """Whether the metric could have a value there, so that it is not the recording that is missing."""
    mine = [trial for trial in trials if trial.trace.variant == variant and trial.trace.case_id == case]
    if not mine or any(isinstance(trial.outcomes.get(scorer.name), Failed) for trial in mine):
        return False
    if scorer.open_loop:
        return all(point.chosen is not None for trial in mine for point in trial.trace.points)
    return all(trial.trace.provenance.label == "exact" for trial in mine)


def _counted(places: set[Place]) -> str:
    points = any(point for _, point in places)
    return counted(len(places), "decision point" if points else "case")


def _some(lost: set[Place]) -> str:
    return some(sorted({case for case, _ in lost}))
