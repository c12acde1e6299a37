"""Exact curtailment: whether the answers that are still missing could change the verdict.

Trials that are not recorded are bounded at their best and at their worst. No test is made before its time, so nothing
is spent of alpha: the verdict is that of the whole recording. Taken as given: trials not asked yet come to an end, have
values where others have, and are answered by the same model.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evals.comparison import gate
from evals.comparison.baseline import hard_violations, leaked_before
from evals.comparison.comparison_pairs import COLLAPSED, scores, slice_of, stored_scores, unknown_shares
from evals.comparison.metric_summaries import SEED, Material, case_means
from evals.comparison.paired_comparison import HARD, by_state, weights
from evals.models.metrics import Scored
from evals.models.run import Baseline, Comparison, ScorerInfo, Trial, trial_metrics
from evals.models.suite import Suite
from evals.scoring.registry import safety_metrics, scorers
from evals.scoring.route_scorers import State
from evals.shared.display_text import counted
from evals.statistics.intervals import codes
from evals.statistics.paired_tests import SIGN_FLIPS, counted_tests, minimum_detectable_drop, sign_flip

_ERRORS: Final = 10
"""Standard errors by which a p-value of drawn signs may be smaller: five of this draw and five of the gate's."""
Bounds = Mapping[State, tuple[float, float]]
"""Case or state -> its lowest and its highest possible value."""


class PossibleChange(NamedTuple):
    """What one case or state may change by, in its cluster; the right-hand side has at least `was`."""

    cluster: str
    low: float
    high: float
    was: float = 0.0


@dataclass(frozen=True)
class BoundedTest:
    """A test of the gate, with what each of its cases may still change by. `what` is a metric, or the kind of a rule;
    `graded`: a case may be worth anything between 0 and 1; `against`: as in a comparison."""

    left: str
    what: str
    changes: Sequence[PossibleChange]
    graded: bool = False
    against: str = "baseline"

    @cached_property
    def sums(self) -> NDArray[np.float64]:
        """The lowest and the highest sum of each cluster: 2 x clusters."""
        owner, _ = codes([each.cluster for each in self.changes], len(self.changes))
        ends = ([each.low for each in self.changes], [each.high for each in self.changes])
        return np.array([np.bincount(owner, weights=each) for each in ends])

    @cached_property
    def least(self) -> tuple[float, float]:
        """The smallest p that it could reach: with every cluster changed that may be, and with those that must be."""
        low, high = self.sums
        return 0.5 ** int(((low < 0) | (high > 0)).sum()), 0.5 ** int(((low > 0) | (high < 0)).sum())

    @cached_property
    def p_worse(self) -> tuple[float, float]:
        """Bounds of the p-value of "worse": all missing cases lost, all gained. For grades the upper bound is 1: the
        correction for skewness is not monotonic."""
        if not self.graded or all(change.low == change.high for change in self.changes):
            return self._tested([each.low for each in self.changes]), self._tested([each.high for each in self.changes])
        low = self.sums[0]
        signs = np.where(np.random.default_rng(SEED).random((SIGN_FLIPS, len(low))) < 0.5, -1.0, 1.0)
        p = float(np.mean(signs @ np.abs(low) <= low.sum() + 1e-9))
        return p - _ERRORS * (max(p * (1 - p), 1e-4) / SIGN_FLIPS) ** 0.5, 1.0

    def _tested(self, values: Sequence[float]) -> float:
        found = sign_flip(values, [change.cluster for change in self.changes], np.random.default_rng(SEED))
        return found.worse if found else 1.0

    def is_weighable(self, alpha: float) -> bool:
        """Whether no drop of a metric is possible, or one is detectable however the missing cases end."""
        low, high = self.sums
        if self.what in (HARD, COLLAPSED) or low.sum() >= 0:
            return True
        churn = min((low < 0).sum(), (high > 0).sum(), ((low < 0) | (high > 0)).sum() // 2) / len(low)
        drop = minimum_detectable_drop(len(low), churn=float(churn), alpha=alpha)
        return drop is not None and drop <= len({each.cluster for each in self.changes if each.was > 0}) / len(low)


@dataclass(frozen=True)
class Curtailment:
    """A run in which trials are missing."""

    material: Material

    @cached_property
    def missing(self) -> list[Trial]:
        """Trials of which an answer is missing, those at decision points included."""
        return [trial for trial in self.material.trials if is_missing(trial)]

    @cached_property
    def _recorded(self) -> dict[str, list[Trial]]:
        """Case -> its trials that are not missing."""
        found: dict[str, list[Trial]] = {}
        for trial in self.material.trials:
            if not is_missing(trial):
                found.setdefault(trial.trace.case_id, []).append(trial)
        return found

    @property
    def is_lost(self) -> bool:
        """Whether a trial is missing that was recorded when blessed, and no prompt was edited since: code that all
        variants share may have taken it off its recording, and no bound is right for that. A variant that was never
        blessed is not protected: nobody knows whether it was recorded before."""
        material, baseline = self.material, self.material.baseline
        if baseline is None or any(each.earlier.since == "blessed" for each in material.edited_prompts):
            return False
        same = {i.variant.name for i in material.variants if baseline.prompts.get(i.variant.name) == i.prompt_digest}
        missing = [trial.trace for trial in self.missing if trial.trace.variant in same]
        return any(trace.case_id in baseline.values.get(trace.variant, {}) for trace in missing)

    @cached_property
    def tests(self) -> list[BoundedTest]:
        """The family of the gate: metrics, hard constraints and slices; those against the reference come first."""
        suite, baseline, names = self.material.suite, self.material.baseline, self.material.names
        metrics = [info for info in self.material.metrics if info.primary]
        found: list[BoundedTest] = []
        if suite.candidate != suite.reference and {suite.candidate, suite.reference} <= set(names):
            for metric in metrics:
                theirs = self._bounds(suite.reference, metric)
                found += self._of_metric(suite.candidate, metric, theirs, "reference")
        for name in names:
            if baseline is not None and baseline.values.get(name):
                for metric in metrics:
                    stored = by_state(stored_scores(self.material, name, metric))
                    found += self._of_metric(name, metric, {state: (value, value) for state, value in stored.items()})
                found.append(BoundedTest(name, HARD, list(self._violations(name, baseline))))
        return found

    def _bounds(self, variant: str, metric: ScorerInfo) -> Bounds:
        known = by_state(scores(self.material, variant, metric))
        unknown = unknown_shares(self.material, (variant,), metric)
        worst = {state: known.get(state, 0.0) * (1 - unknown.get(state, 0.0)) for state in (*known, *unknown)}
        return {state: (low, low + unknown.get(state, 0.0)) for state, low in worst.items()}

    def _of_metric(
        self, left: str, metric: ScorerInfo, was: Bounds, against: str = "baseline"
    ) -> Iterator[BoundedTest]:
        """The test of a metric, then those of its slices."""
        now, clusters = self._bounds(left, metric), self.material.clusters
        both = sorted(now.keys() & was.keys())
        scale = weights(both)
        change = {state: (now[state][0] - was[state][1], now[state][1] - was[state][0]) for state in both}
        weighed = [
            PossibleChange(clusters[state.case_id], weight * change[state][0], weight * change[state][1], was[state][0])
            for state, weight in zip(both, scale, strict=True)
        ]
        values = {value for side in (now, was) for state in both for value in side[state]}
        passing = values <= {0, 1} and self._is_pass_or_fail(metric)
        graded = self.material.suite.samples > 1 or len(set(scale)) > 1 or not passing
        yield BoundedTest(left, metric.name, weighed, graded, against)
        slices: dict[str, list[PossibleChange]] = {}
        for case in () if metric.open_loop else self.material.cases:
            if found := change.get(State(case.id)):
                slices.setdefault(slice_of(case), []).append(PossibleChange(case.cluster, *map(float, np.sign(found))))
        if against == "baseline" or len({*map(slice_of, self.material.cases)}) > 1:
            yield from (BoundedTest(left, COLLAPSED, changes) for changes in slices.values())

    def _is_pass_or_fail(self, metric: ScorerInfo) -> bool:
        """Whether it gives only 0 and 1, whatever is missing."""
        if not metric.macro:
            return any(each.name == metric.name and each.is_pass_or_fail for each in scorers(self.material.pack))
        return all(
            grade in (0, 1) for case in self.material.cases for each in case.points for grade in each.accept.values()
        )

    def _violations(self, name: str, baseline: Baseline) -> Iterator[PossibleChange]:
        """Hard constraints of a variant against its baseline: a case may newly violate one, or no longer."""
        mine = [trial for trial in self.material.trials if trial.trace.variant == name]
        now, unknown = hard_violations(mine, name), {trial.trace.case_id for trial in mine if is_missing(trial)}
        for case in baseline.values[name].keys() & {trial.trace.case_id for trial in mine}:
            before, found = {*baseline.hard_violations.get(name, {}).get(case, ())}, {*now.get(case, ())}
            change = bool(before - found) - bool(found - before)
            low, high = (-1, bool(before)) if case in unknown else (change, change)
            yield PossibleChange(self.material.clusters[case], low, high)

    def _divided(self, *, most: bool, moving: str = "") -> float:
        """Alpha by the largest or the smallest number of tests that may count; those of `moving` count in any case."""
        least = [0.0 if test.left == moving else test.least[0 if most else 1] for test in self.tests]
        return self.material.suite.gate.alpha / counted_tests(least, self.material.suite.gate.alpha)

    def is_worse(self, facts: gate.Facts) -> bool:
        """Whether a reason for "worse" stays, whatever the missing answers are."""
        alpha, deciding = self._divided(most=True), (test for test in self.tests if test.what != COLLAPSED)
        return bool(facts.leaks or facts.must_pass_broken) or any(test.p_worse[1] <= alpha for test in deciding)

    def certain(self, judged: Sequence[Comparison]) -> tuple[Comparison, ...]:
        """The comparisons, without the verdict "regression" where missing answers could mend it."""
        alpha = self._divided(most=True)
        sure = {(test.left, test.against, test.what) for test in self.tests if test.p_worse[1] <= alpha}
        return tuple(
            item.model_copy(update={"verdict": "inconclusive"})
            if item.verdict == "regression" and (item.left, item.against, item.endpoint) not in sure
            else item
            for item in judged
        )

    def may_be_worse(self) -> bool:
        """Whether the missing answers could give a reason for "worse"."""
        alpha = self._divided(most=False)
        return any(map(self.decides_alone, self.missing)) or any(test.p_worse[0] <= alpha for test in self.tests)

    def decides_alone(self, trial: Trial) -> bool:
        """Whether one missing trial can make the run worse: its case must pass, or contains a canary, or has
        no recorded trial that shows that it does not."""
        case, variant, material = trial.trace.case_id, trial.trace.variant, self.material
        if variant == material.suite.candidate and material.by_id[case].must_pass:
            return True
        names, others = safety_metrics(material.pack), self._recorded.get(case, [])
        held = [n for n in names if not others or any(isinstance(each.outcomes.get(n), Scored) for each in others)]
        return not all(leaked_before(material.baseline, variant, case, name) for name in held)

    def may_be_unweighable(self) -> bool:
        """Whether a drop could be left that no test can weigh."""
        return not all(test.is_weighable(self._divided(most=True, moving=test.left)) for test in self.tests)

    def to_ask(self) -> list[Trial]:
        """The missing trials that have a say, in the order that decides soonest: those that decide alone; cases that
        the reference fails, where gains would make up for losses; then those that take the fewest answers."""
        suite, trials = self.material.suite, self.material.trials
        passed = [case_means(trials, suite.reference, metric) for metric in trial_metrics(self.material.metrics)]
        answers = {each.trace.case_id: len(each.trace.asked) for each in trials if not is_missing(each)}
        judged = {suite.candidate, suite.reference, *(test.left for test in self.tests)}

        def place(trial: Trial) -> tuple[bool, float, int, str]:
            case = trial.trace.case_id
            return not self.decides_alone(trial), sum(one.get(case, 1.0) for one in passed), answers.get(case, 0), case

        having_a_say = (each for each in self.missing if each.trace.variant in judged or self.decides_alone(each))
        return sorted(having_a_say, key=place)

    def so_far(self) -> list[str]:
        """Of each metric of the candidate against the reference, what it changes by at worst and at best."""
        found: dict[str, str] = {}
        for test in self.tests:
            if test.what not in (HARD, COLLAPSED) and test.left == self.material.suite.candidate and test.changes:
                low, high = 100 * test.sums.sum(axis=1) / len(test.changes)
                found.setdefault(test.what, f"{test.what} {low:+.0f} points at worst, {high:+.0f} at best")
        return [*found.values()]


def is_missing(trial: Trial) -> bool:
    """Whether an answer of the trial is missing; one that failed lacks none."""
    label = trial.trace.provenance.label
    return label in ("frontier", "unrecorded") or any(point.chosen is None for point in trial.trace.points)


def unbounded(suite: Suite) -> str:
    """What of the suite has no bounds, so that it is judged when all is recorded; empty if everything has."""
    limits = ("gate.cost", suite.gate.cost), ("require: equivalence", suite.gate.require == "equivalence")
    return next((name for name, given in (*limits, ("judge", suite.judge)) if given), "")


def settled(material: Material, facts: gate.Facts) -> gate.Facts:
    """The facts, with what is to be said of missing trials where these cannot change the verdict; else as they are."""
    found = Curtailment(material)
    if not found.missing or found.is_lost or unbounded(material.suite):
        return facts
    counts = Counter(trial.trace.variant for trial in found.missing)
    which = ", ".join(f"{counted(count, 'trial')} of {name}" for name, count in counts.items())
    be, they = ("is", "it") if len(found.missing) == 1 else ("are", "they")
    missing = {trial.trace.case_id for trial in found.missing if trial.trace.variant == facts.candidate}
    updated = facts.model_copy(
        update={
            "unasked": f"{which} {be} not recorded; {they} cannot change the verdict",
            "must_pass_unknown": tuple(case for case in facts.must_pass_unknown if case not in missing),
        }
    )
    status = gate.decide(updated).status
    if status == "worse":
        updated = updated.model_copy(update={"judged": found.certain(updated.judged)})
        return updated if found.is_worse(updated) and gate.decide(updated).status == "worse" else facts
    if status == "cannot judge" or found.may_be_worse():
        return facts
    changes = status == "not worse" and (material.earlier is not None or found.may_be_unweighable())
    return facts if changes else updated
