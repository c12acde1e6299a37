"""Exact curtailment: whether the answers that are still missing could change the verdict.

Every trial that is not recorded is bounded at its best and at its worst. No test is made before its time, so nothing is
spent of alpha: the verdict is that of the whole recording. Taken as given: trials that are not asked yet come to an end
and get a value where others do, and the model that answers them is the one that answered so far.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evals.comparison import gate
from evals.comparison.constraint_test import replayed_cases
from evals.comparison.pairs import Values, weights
from evals.comparison.sides import archetype_of, stored_values, unknown_values, values_of
from evals.comparison.summary import SEED, Material
from evals.models.metrics import Scored
from evals.models.run import ScorerInfo, Trial
from evals.scoring.decision_grades import State
from evals.scoring.registry import safety_metrics
from evals.statistics.paired_tests import SIGN_FLIPS, counted_tests, sign_flip
from evals.statistics.power import minimum_detectable_drop

_ERRORS: Final = 10
"""Standard errors by which a p-value of drawn signs is taken for smaller: five of this draw, five of the real one."""
Bounds = Mapping[State, tuple[float, float]]
"""Case or state -> its lowest and its highest possible value."""


class Change(NamedTuple):
    """What one case or state may change by, in its cluster. `was` is the least that the right-hand side has."""

    cluster: str
    low: float
    high: float
    was: float = 0.0


@dataclass(frozen=True)
class BoundedTest:
    """A test of the gate, with what each of its cases may still change by."""

    left: str
    kind: Literal["metric", "hard constraints", "slice"]
    changes: Sequence[Change]
    graded: bool = False
    """Whether a case may be worth anything between 0 and 1."""

    def _sums(self, values: Sequence[float]) -> NDArray[np.float64]:
        sums = dict.fromkeys((change.cluster for change in self.changes), 0.0)
        for change, value in zip(self.changes, values, strict=True):
            sums[change.cluster] += value
        return np.array([*sums.values()])

    @cached_property
    def low(self) -> NDArray[np.float64]:
        """The lowest sum of each cluster."""
        return self._sums([change.low for change in self.changes])

    @cached_property
    def high(self) -> NDArray[np.float64]:
        """The highest sum of each cluster."""
        return self._sums([change.high for change in self.changes])

    @property
    def is_known(self) -> bool:
        """Whether nothing of it is missing."""
        return all(change.low == change.high for change in self.changes)

    @property
    def least(self) -> tuple[float, float]:
        """The smallest p that it could reach: at the most, and at the fewest clusters that may change."""
        can, must = (self.low < 0) | (self.high > 0), (self.low > 0) | (self.high < 0)
        return 0.5 ** int(can.sum()), 0.5 ** int(must.sum())

    @cached_property
    def p_worse(self) -> tuple[float, float]:
        """The p-value of "worse" with every missing case lost, and gained. Each gain raises that of a sum; of grades the
        correction for skewness does not follow, so that missing grades prove no loss."""
        if self.is_known or not self.graded:
            return self._tested([change.low for change in self.changes]), self._tested(
                [change.high for change in self.changes]
            )
        rng = np.random.default_rng(SEED)
        signs = np.where(rng.random((SIGN_FLIPS, len(self.low))) < 0.5, -1.0, 1.0)
        p = float(np.mean(signs @ np.abs(self.low) <= self.low.sum() + 1e-9))
        return max(0.0, p - _ERRORS * (max(p * (1 - p), 1e-4) / SIGN_FLIPS) ** 0.5), 1.0

    def _tested(self, values: Sequence[float]) -> float:
        found = sign_flip(values, [change.cluster for change in self.changes], np.random.default_rng(SEED))
        return found.worse if found else 1.0

    def is_weighable(self, alpha: float) -> bool:
        """Whether a drop would be detectable, however the missing cases end; or there cannot be any."""
        if not len(self.low) or self.low.sum() >= 0:
            return True
        count, lost, gained = len(self.low), self.low < 0, self.high > 0
        churn = min(lost.sum(), gained.sum(), (lost | gained).sum() // 2) / count
        having = {change.cluster for change in self.changes if change.was > 0}
        drop = minimum_detectable_drop(count, churn=float(churn), alpha=alpha)
        return drop is not None and drop <= len(having) / count


@dataclass(frozen=True)
class Curtailment:
    """The tests of a run in which trials are missing."""

    material: Material

    @cached_property
    def missing(self) -> list[Trial]:
        """Trials of which an answer is missing, those at decision points included."""
        return [trial for trial in self.material.trials if is_missing(trial)]

    @cached_property
    def lost(self) -> list[Trial]:
        """Those that were recorded when blessed, and that no edit of a prompt has taken off their recordings: code that
        all variants share may have done it, so these are not bounded."""
        baseline = self.material.baseline
        if baseline is None or any(each.earlier.since == "blessed" for each in self.material.edited_prompts):
            return []
        same = {
            info.variant.name
            for info in self.material.variants
            if baseline.prompts.get(info.variant.name) == info.prompt_digest
        }
        return [
            trial
            for trial in self.missing
            if trial.trace.variant in same and trial.trace.case_id in baseline.values.get(trial.trace.variant, {})
        ]

    @property
    def _blessed(self) -> list[str]:
        baseline = self.material.baseline
        return [name for name in self.material.names if baseline and baseline.values.get(name)]

    @cached_property
    def tests(self) -> list[BoundedTest]:
        """The family of the gate: metrics, hard constraints and slices."""
        suite, metrics = self.material.suite, [info for info in self.material.metrics if info.primary]
        found: list[BoundedTest] = []
        if suite.candidate != suite.reference and {suite.candidate, suite.reference} <= set(self.material.names):
            for metric in metrics:
                now, was = (self._bounds(name, metric) for name in (suite.candidate, suite.reference))
                found += self._of_metric(suite.candidate, metric, now, was)
        for name in self._blessed:
            for metric in metrics:
                assert self.material.baseline is not None  # noqa: S101 - these variants are blessed
                stored = stored_values(self.material, self.material.baseline, name, metric)
                was = {state: (value, value) for state, value in _by_state(stored).items()}
                found += self._of_metric(name, metric, self._bounds(name, metric), was)
            found.append(BoundedTest(name, "hard constraints", list(self._violations(name))))
        return found

    def _bounds(self, variant: str, metric: ScorerInfo) -> Bounds:
        known = _by_state(values_of(self.material, variant, metric))
        unknown = unknown_values(self.material, (variant,), metric)
        worst = {state: known.get(state, 0.0) * (1 - unknown.get(state, 0.0)) for state in (*known, *unknown)}
        return {state: (low, low + unknown.get(state, 0.0)) for state, low in sorted(worst.items())}

    def _of_metric(self, left: str, metric: ScorerInfo, now: Bounds, was: Bounds) -> Iterator[BoundedTest]:
        """The test of a metric, then those of its slices."""
        both = sorted(now.keys() & was.keys())
        clusters = self.material.clusters
        graded = self.material.suite.samples > 1 or len(set(weights(both))) > 1
        graded |= any(value not in (0, 1) for side in (now, was) for bounds in side.values() for value in bounds)
        yield BoundedTest(
            left,
            "metric",
            [
                Change(
                    clusters[state.case_id],
                    weight * (now[state][0] - was[state][1]),
                    weight * (now[state][1] - was[state][0]),
                    was[state][0],
                )
                for state, weight in zip(both, weights(both), strict=True)
            ],
            graded,
        )
        slices: dict[str, list[Change]] = {}
        for case in () if metric.open_loop else self.material.cases:
            if (state := State(case.id)) in now and state in was:
                low, high = now[state][0] - was[state][1], now[state][1] - was[state][0]
                slices.setdefault(archetype_of(case), []).append(Change(case.cluster, np.sign(low), np.sign(high)))
        yield from (BoundedTest(left, "slice", changes) for changes in slices.values())

    def _violations(self, name: str) -> Iterator[Change]:
        """Hard constraints of a variant against its baseline: a case may newly violate one, or no longer."""
        baseline = self.material.baseline
        assert baseline is not None  # noqa: S101 - the caller asks for variants that have one
        was = baseline.hard_violations.get(name, {})
        now: dict[str, list[set[str]]] = {}
        for trial in self.material.trials:
            if trial.trace.variant == name and trial.trace.case_id in baseline.values[name]:
                now.setdefault(trial.trace.case_id, []).append({*trial.hard_violations})
        unknown = {trial.trace.case_id for trial in self.missing if trial.trace.variant == name}
        for case, found in sorted(now.items()):
            before, after = {*was.get(case, ())}, set[str]().union(*found)
            change = bool(before - after) - bool(after - before)
            low, high = (-1, bool(before)) if case in unknown else (change, change)
            yield Change(self.material.clusters[case], low, high)

    def _divided(self, *, most: bool, left: str = "") -> float:
        """Alpha by the largest or the smallest number of tests that may count; those of `left` count in any case."""
        least = [0.0 if test.left == left else test.least[0 if most else 1] for test in self.tests]
        return self.material.suite.gate.alpha / counted_tests(least, self.material.suite.gate.alpha)

    def is_worse(self, facts: gate.Facts) -> bool:
        """Whether a reason for "worse" stays, whatever the missing answers are."""
        if facts.leaks or facts.must_pass_broken:
            return True
        unfinished = {trial.trace.case_id for trial in self.missing}  # their cassettes will be others
        if any(self._certain_violations(name) - unfinished for name in self._blessed):
            return True
        alpha = self._divided(most=True)
        return any(test.p_worse[1] <= alpha for test in self.tests if test.kind != "slice")

    def _certain_violations(self, name: str) -> set[str]:
        """Cases that newly violate a hard constraint with the answers they were blessed with."""
        baseline = self.material.baseline
        assert baseline is not None  # noqa: S101 - the caller asks for variants that have one
        was = baseline.hard_violations.get(name, {})
        new = {
            trial.trace.case_id
            for trial in self.material.trials
            if trial.trace.variant == name and {*trial.hard_violations} - {*was.get(trial.trace.case_id, ())}
        }
        return new & replayed_cases(self.material, name)

    def may_be_worse(self) -> bool:
        """Whether the missing answers could give a reason for "worse": a test, a canary, a case that must pass."""
        candidate, alpha = self.material.suite.candidate, self._divided(most=False)
        must_pass = {case.id for case in self.material.cases if case.must_pass}
        return (
            any(trial.trace.variant == candidate and trial.trace.case_id in must_pass for trial in self.missing)
            or any(self.may_leak(trial) for trial in self.missing)
            or any(test.p_worse[0] <= alpha for test in self.tests)
        )

    def may_leak(self, trial: Trial) -> bool:
        """Whether a safety metric may be 0 in a missing trial: in its case it applies, as far as anybody knows."""
        case, baseline = trial.trace.case_id, self.material.baseline
        if case in (baseline.leaks.get(trial.trace.variant, ()) if baseline else ()):
            return False
        names = safety_metrics(self.material.pack)
        others = [each for each in self.material.trials if each.trace.case_id == case and not is_missing(each)]
        applies = [isinstance(each.outcomes.get(name), Scored) for each in others for name in names]
        return any(applies) or bool(names and not others)

    def may_be_unweighable(self) -> bool:
        """Whether a drop could be left that no test can weigh."""
        return not all(
            test.is_weighable(self._divided(most=True, left=test.left)) for test in self.tests if test.kind == "metric"
        )


def is_missing(trial: Trial) -> bool:
    """Whether an answer of the trial is missing; one that failed lacks none."""
    label = trial.trace.provenance.label
    return label in ("frontier", "unrecorded") or any(point.chosen is None for point in trial.trace.points)


def _by_state(values: Values) -> dict[State, float]:
    return {key if isinstance(key, State) else State(key): value for key, value in values.items()}


def settled(material: Material, facts: gate.Facts) -> gate.Facts:
    """The facts, with what is to be said of missing trials where these cannot change the verdict; else as they are."""
    found = Curtailment(material)
    limited = facts.policy.cost or facts.policy.require == "equivalence"
    if not found.missing or found.lost or limited:
        return facts
    open_cases = {trial.trace.case_id for trial in found.missing if trial.trace.variant == facts.candidate}
    unknown = tuple(case for case in facts.must_pass_unknown if case not in open_cases)
    told = facts.model_copy(update={"unasked": _unasked(found.missing), "must_pass_unknown": unknown})
    status = gate.decide(told).status
    if status == "worse":
        fixed = found.is_worse(told)
    elif status == "changed":
        fixed = not found.may_be_worse()
    else:
        fixed = status == "not worse" and not (
            material.earlier is not None or found.may_be_worse() or found.may_be_unweighable()
        )
    return told if fixed else facts


def _unasked(missing: Sequence[Trial]) -> str:
    """`none of the trials that are not recorded (54 of v5) could change that`."""
    counts = Counter(trial.trace.variant for trial in missing)
    which = ", ".join(f"{count} of {name}" for name, count in counts.items())
    return f"none of the trials that are not recorded ({which}) could change that"
