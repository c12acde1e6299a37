"""Metrics of one variant over its trials, and what the candidate costs against the reference."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import numpy as np

from evals.comparison.metric_summaries import SEED, Material, case_means, open_cases
from evals.models.case import Choice
from evals.models.metrics import (
    Confusion,
    ConfusionCell,
    Counted,
    Measure,
    MeasureInfo,
    MeasureUnit,
    Twins,
)
from evals.models.run import CaseInfo, CostChange, PointInfo, Trial
from evals.models.suite import CostLimit
from evals.statistics.intervals import (
    FEWEST_CLUSTERS,
    Interval,
    fraction_interval,
    mean,
    mean_interval,
    rate_interval,
)

Side = Literal["variant", "reference"]


class StateGrade(NamedTuple):
    """The grade of one frozen state, averaged over samples; None where a sample is not recorded."""

    case_id: str
    point: str
    gold: Choice
    grade: float | None


@dataclass(frozen=True)
class VariantTrials:
    """The trials of `variant`, and of the `reference` it is held against."""

    variant: str
    reference: str
    cases: Mapping[str, CaseInfo]
    trials: Sequence[Trial]

    def own(self, side: Side = "variant") -> list[Trial]:
        """The trials of one side."""
        name = self.variant if side == "variant" else self.reference
        return [trial for trial in self.trials if trial.trace.variant == name]

    def exact(self, side: Side = "variant") -> list[Trial]:
        """Those of them that are wholly on the tape."""
        return [trial for trial in self.own(side) if trial.trace.provenance.label == "exact"]

    def open(self, side: Side = "variant") -> int:
        """How many are not, so that nobody knows what they come to."""
        return len(self.own(side)) - len(self.exact(side))

    def open_pairs(self) -> int:
        """How many pairs of trials, one of each side, are not wholly on the tape on both."""
        asked = _keys(self.own()) & _keys(self.own("reference"))
        return len(asked - (_keys(self.exact()) & _keys(self.exact("reference"))))

    def means(self, scorer: str) -> dict[str, float]:
        """Case id -> mean of the variant's scored samples."""
        return case_means(self.trials, self.variant, scorer)

    def open_cases(self, scorer: str) -> dict[str, float]:
        """Case id -> share of the variant's samples whose score is off the tape; cases without any left out."""
        return {state.case_id: share for state, share in open_cases(self.trials, self.variant, scorer).items()}

    def clusters(self, case_ids: Sequence[str]) -> list[str]:
        """What each case is resampled with."""
        return [self.cases[case].cluster for case in case_ids]

    def rng(self) -> np.random.Generator:
        """The same chance for every measure and every run."""
        return np.random.default_rng(SEED)

    def points(self) -> list[StateGrade]:
        """Every frozen state the variant was asked about and had a say in, in order of trial and label."""
        asked: dict[str, list[Trial]] = {}
        for trial in self.own():
            asked.setdefault(trial.trace.case_id, []).append(trial)
        return [
            StateGrade(case, point.id, point.gold, _grade(mine, point))
            for case, mine in asked.items()
            for point in self.cases[case].points
            if not any(point.id in trial.trace.without_say for trial in mine)
        ]


def _keys(trials: Sequence[Trial]) -> set[tuple[str, int]]:
    return {(trial.trace.case_id, trial.trace.sample) for trial in trials}


def _grade(trials: Sequence[Trial], point: PointInfo) -> float | None:
    """Mean grade over samples; None unless every sample is recorded."""
    chosen = [trial.trace.choices[point.id] for trial in trials if point.id in trial.trace.choices]
    grades = [point.accept.get(node, 0.0) for node in chosen]
    return sum(grades) / len(grades) if len(grades) == len(trials) else None


@dataclass(frozen=True)
class MetricValue:
    """A value and what it rests on. `bounds` are (pessimistic, optimistic), `null` is what chance alone gives; without
    a value `why_not` says why."""

    value: float | None
    n: int
    of: int
    interval: Interval | None = None
    bounds: tuple[float, float] | None = None
    null: Interval | None = None
    why_not: str = ""


MeasuringFunction = Callable[[VariantTrials], MetricValue]


@dataclass(frozen=True)
class Measuring:
    """A function that measures, and how the report explains it."""

    info: MeasureInfo
    function: MeasuringFunction

    def of(self, evidence: VariantTrials) -> Measure:
        """The measure of one variant."""
        found = self.function(evidence)
        low, high = found.interval or (None, None)
        pessimistic, optimistic = found.bounds or (None, None)
        null_low, null_high = found.null or (None, None)
        return Measure(
            variant=evidence.variant,
            name=self.info.name,
            value=found.value,
            low=low,
            high=high,
            n=found.n,
            of=found.of,
            pessimistic=pessimistic,
            optimistic=optimistic,
            null_low=null_low,
            null_high=null_high,
            why_not=found.why_not if found.value is None else "",
        )


def measure(
    name: str, *, unit: MeasureUnit, better: Literal["higher", "lower"], counted: Counted
) -> Callable[[MeasuringFunction], Measuring]:
    """Make a function of the evidence a measure; its docstring, on one line, is the definition."""

    def made(function: MeasuringFunction) -> Measuring:
        definition = " ".join((inspect.getdoc(function) or "").split())
        if not definition:
            raise ValueError(f"measure {name!r} has no docstring: write its definition there")
        return Measuring(
            MeasureInfo(name=name, unit=unit, better=better, counted=counted, definition=definition), function
        )

    return made


Pair = tuple[Choice, Choice, float]
"""Row, column, and the grade the labels give for the column."""


def confusions_of(evidence: VariantTrials) -> tuple[Confusion, Confusion]:
    """Frozen states, then the decisions of exact trials."""
    return _frozen(evidence), _decided(evidence)


def _frozen(evidence: VariantTrials) -> Confusion:
    answered: list[Pair] = []
    asked = 0
    for trial in evidence.own():
        for point in evidence.cases[trial.trace.case_id].points:
            asked += point.id not in trial.trace.without_say
            choice = trial.trace.choices.get(point.id)
            if choice is not None:
                answered.append((point.gold, choice, point.accept.get(choice, 0.0)))
    return _confusion(evidence.variant, "frozen states", answered, asked)


def _decided(evidence: VariantTrials) -> Confusion:
    decisions = [
        (decision.chosen, decision.routed, float(decision.chosen == decision.routed))
        for trial in evidence.exact()
        for decision in trial.trace.decisions
    ]
    known = sum(len(trial.trace.decisions) for trial in evidence.own())
    return _confusion(evidence.variant, "trials", decisions, known)


def _confusion(
    variant: str, decisions: Literal["frozen states", "trials"], pairs: Iterable[Pair], of: int
) -> Confusion:
    counted: dict[tuple[Choice, Choice], list[float]] = {}
    for row, column, credit in pairs:
        counted.setdefault((row, column), []).append(credit)
    cells = tuple(
        ConfusionCell(row=row, column=column, count=len(mine), credit=sum(mine))
        for (row, column), mine in sorted(counted.items())
    )
    return Confusion(variant=variant, decisions=decisions, cells=cells, n=sum(cell.count for cell in cells), of=of)


@measure("decision.micro", unit="fraction", better="higher", counted="frozen states")
def micro_average(evidence: VariantTrials) -> MetricValue:
    """Mean grade over all recorded decision points, each counted once: what `decision.score` would be if a frequent
    best node counted for more than a rare one."""
    points = evidence.points()
    known = [(point.case_id, point.grade) for point in points if point.grade is not None]
    grades = [grade for _, grade in known]
    unknown, most = len(points) - len(known), len(points)
    return MetricValue(
        mean(grades),
        len(known),
        most,
        fraction_interval(grades, evidence.clusters([case for case, _ in known])),
        (sum(grades) / most, (sum(grades) + unknown) / most) if most else None,
        why_not="no decision point is recorded" if points else "no case has decision points",
    )


def twins_of(evidence: VariantTrials, endpoint: str) -> tuple[Twins, ...]:
    """Every pair among the cases, in order of its name."""
    values = evidence.means(endpoint)
    return tuple(_pair(name, members, endpoint, values, evidence) for name, members in _pairs(evidence.cases).items())


def _pairs(cases: Mapping[str, CaseInfo]) -> dict[str, list[CaseInfo]]:
    """Twins share their cluster; a case without one is a cluster of its own."""
    found: dict[str, list[CaseInfo]] = {}
    for case in cases.values():
        found.setdefault(case.cluster, []).append(case)
    return {name: members for name, members in sorted(found.items()) if len(members) > 1}


def _pair(
    name: str, members: list[CaseInfo], endpoint: str, values: Mapping[str, float], evidence: VariantTrials
) -> Twins:
    mine = tuple(values.get(case.id) for case in members)
    return Twins(
        pair_id=name,
        variant=evidence.variant,
        endpoint=endpoint,
        cases=tuple(case.id for case in members),
        slices=tuple(case.slice for case in members),
        values=mine,
        consistent=None if None in mine else len(set(mine)) == 1,
    )


def pair_metrics(metrics: Iterable[str]) -> tuple[Measuring, ...]:
    """One metric per metric of a trial: how often the members of a metamorphic pair agree on it."""
    return tuple(_pair_metric(metric) for metric in metrics)


def _pair_metric(metric: str) -> Measuring:
    def agreement(evidence: VariantTrials) -> MetricValue:
        return _consistency(evidence, metric)

    name = f"robustness.twins_{metric.partition('.')[0]}"
    agreement.__doc__ = f"Of the metamorphic pairs whose members are all scored, the share with equal `{metric}`."
    return measure(name, unit="fraction", better="higher", counted="pairs")(agreement)


def _consistency(evidence: VariantTrials, endpoint: str) -> MetricValue:
    pairs = twins_of(evidence, endpoint)
    known = [pair.consistent for pair in pairs if pair.consistent is not None]
    alike, most = sum(known), len(pairs)
    return MetricValue(
        alike / len(known) if known else None,
        len(known),
        most,
        rate_interval(alike, len(known)),
        (alike / most, (alike + most - len(known)) / most) if most else None,
        why_not="no metamorphic pair is wholly scored" if pairs else "there are no metamorphic pairs among the cases",
    )


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
