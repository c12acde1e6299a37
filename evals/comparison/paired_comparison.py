"""Paired comparison of two variants: metrics per case, and hard constraints that one of them newly violates."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np

from evals.comparison.baseline import hard_violations
from evals.comparison.metric_summaries import SEED, Material
from evals.models.run import Comparison, EndpointVerdict, RuleTest
from evals.models.suite import GatePolicy
from evals.scoring.route_scorers import State, route_pass
from evals.statistics.distributions import upper_limit
from evals.statistics.intervals import Interval, macro_weights
from evals.statistics.paired_tests import (
    SAME,
    SignFlip,
    counted_tests,
    difference_interval,
    minimum_detectable_difference,
    minimum_detectable_drop,
    sign_flip,
    smallest_significant_flips,
    tarone_holm,
)

Values = Mapping[str, float] | Mapping[State, float]
"""Case id, or frozen state -> score of one endpoint."""


class Pair(NamedTuple):
    """What one case or state was worth on the right (`was`) and on the left (`now`). The plain mean over pairs of
    `weight` times a value is the endpoint's mean; weights differ only where gold nodes are to count alike."""

    state: State
    was: float
    now: float
    weight: float

    @property
    def change(self) -> float:
        """What this pair adds to the difference, weighed."""
        return self.weight * (self.now - self.was)


def paired(left: Values, right: Values) -> list[Pair]:
    """The cases or states both sides have, in order."""
    now, was = by_state(left), by_state(right)
    both = sorted(now.keys() & was.keys())
    return [Pair(state, was[state], now[state], weight) for state, weight in zip(both, weights(both), strict=True)]


def weights(states: Sequence[State]) -> list[float]:
    """What each state counts in the mean; 1 on average, and exactly 1 where there is one gold node or none."""
    if len({state.gold for state in states}) < 2:
        return [1.0] * len(states)
    return [len(states) * weight for weight in macro_weights([state.gold for state in states])]


def bounds(pairs: Sequence[Pair], unknown: Mapping[State, float]) -> tuple[float, float] | None:
    """The mean difference with everything unknown lost, and gained; None for an empty sample. Of a pair some samples of
    which are unknown, that share."""
    changes = {pair.state: pair.now - pair.was for pair in pairs}
    states = [*dict.fromkeys((*changes, *unknown))]
    if not states:
        return None
    scale = dict(zip(states, weights(states), strict=True))
    known = sum(scale[state] * change for state, change in changes.items())
    rest = sum(scale[state] * share for state, share in unknown.items())
    return (known - rest) / len(states), (known + rest) / len(states)


def together(sides: Iterable[Mapping[State, float]]) -> dict[State, float]:
    """What is unknown of either side is unknown of the pair: the shares of both, 1 at most, in order of state."""
    found: dict[State, float] = {}
    for state, share in sorted(item for side in sides for item in side.items()):
        found[state] = min(1.0, found.get(state, 0.0) + share)
    return found


def by_case(pairs: Iterable[Pair]) -> dict[str, float]:
    """Case id -> the change of all its pairs together."""
    changes: dict[str, float] = {}
    for pair in pairs:
        changes[pair.state.case_id] = changes.get(pair.state.case_id, 0.0) + pair.change
    return changes


def by_state(values: Values) -> dict[State, float]:
    """The values by state; a case is one without a decision point."""
    return {key if isinstance(key, State) else State(key): value for key, value in values.items()}


Against = Literal["reference", "baseline", "whole set"]
Names = tuple[str, str]
"""Left and right of a comparison, as the report calls them."""
Key = tuple[Names, str]
"""A comparison: its names and its metric."""
Unknown = Mapping[Key, Mapping[State, float]]
"""(names, metric) -> cases or points whose score is not recorded on one side, each with the share of its samples."""


class TestedRule(NamedTuple):
    """A rule that is tested like a metric: the metric it rests on, its kind, and the part of the cases it is about
    (empty for all)."""

    metric: str
    kind: str
    part: str = ""


Rules = Mapping[tuple[Names, TestedRule], SignFlip]
"""(names, rule) -> the test of a rule that is judged in the same family as the metrics."""

_LEAST_STEP: Final = 0.01
"""The smallest drop of a grade that is ever called detectable."""


class Family(NamedTuple):
    """The comparisons of one family, and the adjusted p of each rule: (worse, number of tests that count for it)."""

    comparisons: tuple[Comparison, ...]
    rules: dict[tuple[Names, TestedRule], tuple[float, int]]


def compare(
    family: Mapping[Names, Mapping[str, tuple[Values, Values]]],
    clusters: Mapping[str, str],
    against: Against | Mapping[Names, Against],
    policy: GatePolicy,
    unknown: Unknown | None = None,
) -> tuple[Comparison, ...]:
    """The comparisons of `compare_family`, where no rule is judged beside the metrics."""
    return compare_family(family, clusters, against, policy, unknown).comparisons


def compare_family(
    family: Mapping[Names, Mapping[str, tuple[Values, Values]]],
    clusters: Mapping[str, str],
    against: Against | Mapping[Names, Against],
    policy: GatePolicy,
    unknown: Unknown | None = None,
    rules: Rules | None = None,
) -> Family:
    """Compare left with right on every metric; p-values are adjusted over the whole family.

    Args:
        family: names -> metric -> (left's values, right's values); higher is better.
        clusters: case id -> its cluster.
        against: what the right-hand sides are, or each of them.
        policy: alpha and margin.
        unknown: what the bounds of each comparison are about.
        rules: tests of rules that belong to the family.

    Returns:
        One comparison per names and metric, in order, and the adjusted p of every rule.
    """
    pairs_of = {
        (names, endpoint): paired(left, right)
        for names, endpoints in family.items()
        for endpoint, (left, right) in endpoints.items()
    }
    found = {key: _tested(pairs, clusters) for key, pairs in pairs_of.items()}
    tests: dict[tuple[Names, str | TestedRule], SignFlip] = {
        key: test for key, test in found.items() if test is not None
    }
    tests.update(((key, test) for key, test in (rules or {}).items()))
    least = {key: test.least for key, test in tests.items()}
    worse = tarone_holm({key: test.worse for key, test in tests.items()}, least, policy.alpha)
    better = tarone_holm({key: test.better for key, test in tests.items()}, least, policy.alpha)
    asked: list[tuple[Names, str | TestedRule]] = [*pairs_of, *(rules or {})]
    counted = {key: _counted(key, least, policy.alpha) for key in asked}
    return Family(
        tuple(
            _comparison(
                key,
                pairs,
                (unknown or {}).get(key, {}),
                clusters,
                against if isinstance(against, str) else against[key[0]],
                policy,
                found[key],
                worse.get(key),
                better.get(key),
                counted[key],
            )
            for key, pairs in pairs_of.items()
        ),
        {key: (worse[key], counted[key]) for key in rules or {}},
    )


def _counted(
    key: tuple[Names, str | TestedRule], least: Mapping[tuple[Names, str | TestedRule], float], alpha: float
) -> int:
    """By how many tests alpha is divided if this metric or rule moves: in every comparison of its variant, together
    with the rules on all cases that rest on the metric, and beside every other test as it is. Power is computed so."""
    (left, _), what = key
    metric = what if isinstance(what, str) else what.metric
    moving = [
        0.0 if names[0] == left and (name in (metric, what) or _goes_with(name, metric)) else one
        for (names, name), one in least.items()
    ]
    return counted_tests(moving, alpha)


def _goes_with(name: str | TestedRule, metric: str) -> bool:
    return isinstance(name, TestedRule) and name.metric == metric and not name.part


def _pass_or_fail(pairs: Sequence[Pair]) -> bool:
    """One answer per case, each 0 or 1, and all count alike."""
    return (
        all(value in (0, 1) for pair in pairs for value in (pair.was, pair.now))
        and len({pair.state.case_id for pair in pairs}) == len(pairs)
        and len({pair.state.gold for pair in pairs}) < 2
    )


def _tested(pairs: Sequence[Pair], clusters: Mapping[str, str]) -> SignFlip | None:
    return sign_flip([pair.change for pair in pairs], _owners(pairs, clusters), np.random.default_rng(SEED))


def _owners(pairs: Sequence[Pair], clusters: Mapping[str, str]) -> list[str]:
    return [clusters[pair.state.case_id] for pair in pairs]


def _comparison(
    key: Key,
    pairs: Sequence[Pair],
    unknown: Mapping[State, float],
    clusters: Mapping[str, str],
    against: Against,
    policy: GatePolicy,
    test: SignFlip | None,
    p_worse: float | None,
    p_better: float | None,
    counted: int,
) -> Comparison:
    (left, right), endpoint = key
    owners = _owners(pairs, clusters)
    interval = (
        difference_interval([pair.change for pair in pairs], owners, [pair.weight for pair in pairs]) if pairs else None
    )
    low, high = interval or (None, None)
    worst, best = bounds(pairs, unknown) or (None, None)
    changes = by_case(pairs)
    verdict = _verdict(changes, clusters, policy, p_worse, p_better, interval)
    better = verdict == "improvement"
    return Comparison(
        endpoint=endpoint,
        left=left,
        right=right,
        against=against,
        n=len(changes),
        of=len(changes.keys() | {state.case_id for state in unknown}),
        delta=sum(pair.change for pair in pairs) / len(pairs) if pairs else None,
        low=low,
        high=high,
        pessimistic=worst,
        optimistic=best,
        broke=tuple(case for case, change in changes.items() if change < -SAME),
        mended=tuple(case for case, change in changes.items() if change > SAME),
        p_value=test and (test.better if better else test.worse),
        p_holm=p_better if better else p_worse,
        minimum_detectable=_minimum_detectable(pairs, owners, policy.alpha / counted),
        fewest_losses=_fewest_losses(pairs, owners, policy.alpha / counted),
        verdict=verdict,
    )


def _verdict(
    changes: Mapping[str, float],
    clusters: Mapping[str, str],
    policy: GatePolicy,
    p_worse: float | None,
    p_better: float | None,
    interval: Interval | None,
) -> EndpointVerdict:
    if not changes:
        return "cannot judge"
    if p_worse is not None and p_worse <= policy.alpha:
        return "regression"
    if p_better is not None and p_better <= policy.alpha:
        return "improvement"
    within = interval is not None and -policy.margin <= interval.low and interval.high <= policy.margin
    return (
        "equivalent within margin" if within and _unseen_change(changes, clusters) <= policy.margin else "inconclusive"
    )


def _unseen_change(changes: Mapping[str, float], clusters: Mapping[str, str]) -> float:
    """The largest share of clusters that may change, at 95 % (Clopper & Pearson 1934), given how many did here."""
    changed = {clusters[case] for case, change in changes.items() if abs(change) > SAME}
    return upper_limit(len(changed), len({clusters[case] for case in changes}), 0.95)


def _minimum_detectable(pairs: Sequence[Pair], owners: Sequence[str], alpha: float) -> float | None:
    """The smallest drop that is called a regression in 80 of 100 such comparisons; None where no drop would be.

    Only what passes can be lost: a reference that passes nothing leaves nothing to see, and one that passes fewer
    clusters than a significant result needs leaves nothing either.
    """
    if not pairs:
        return None
    drop = _if_clusters_fall(pairs, owners, alpha)
    if _pass_or_fail(pairs):
        return drop
    graded = minimum_detectable_difference([pair.change for pair in pairs], owners, alpha=alpha)
    if drop is None:  # too many rose and fell to count them: of grades, how far they move counts
        mean = sum(pair.weight * pair.was for pair in pairs) / len(pairs)
        if _if_clusters_fall(pairs, owners, alpha, most=True) is None or (graded or math.inf) > mean:
            return None
    return max(drop or 0.0, graded or 0.0, _LEAST_STEP)


def _if_clusters_fall(
    pairs: Sequence[Pair], owners: Sequence[str], alpha: float, *, most: bool = False
) -> float | None:
    """The drop if enough clusters fall to be significant, each by as much as those that changed did, or by all it has.

    As many may change by chance, in either direction, as did here in the rarer one; with `most` none.
    """
    worth: dict[str, float] = {}
    changed: dict[str, float] = {}
    for pair, owner in zip(pairs, owners, strict=True):
        worth[owner] = worth.get(owner, 0.0) + pair.weight * pair.was
        changed[owner] = changed.get(owner, 0.0) + pair.change
    lost, gained = (sum(sign * change > SAME for change in changed.values()) for sign in (-1, 1))
    churn = 0.0 if most else min(lost, gained) / len(worth)
    drop = minimum_detectable_drop(len(worth), churn=churn, alpha=alpha)
    having = [value for value in worth.values() if value > 0]
    if drop is None or drop > len(having) / len(worth):
        return None
    if _pass_or_fail(pairs):
        return drop
    moved = [abs(change) for change in changed.values() if abs(change) > SAME]
    step = float(np.sqrt(np.mean(np.square(moved)))) if moved else sum(having) / len(having)
    return drop * step * len(worth) / len(pairs)


def _fewest_losses(pairs: Sequence[Pair], owners: Sequence[str], alpha: float) -> int | None:
    """How many lost cases, each in a cluster of its own, would have been a regression beside the gains there are."""
    if not pairs or not _pass_or_fail(pairs):
        return None
    gained = len({owner for pair, owner in zip(pairs, owners, strict=True) if pair.now > pair.was})
    fewest = smallest_significant_flips(len(set(owners)), gained=gained, alpha=alpha)
    able = len({owner for pair, owner in zip(pairs, owners, strict=True) if pair.was == 1})
    return fewest if fewest is not None and fewest <= able else None


HARD: Final = "new hard violation"
ON_ROUTES: Final = TestedRule(route_pass.name, HARD)


class PairedRule(NamedTuple):
    """A rule before its p-value is adjusted: cases it was lost in (with the constraints) and gained in."""

    rule: TestedRule
    left: str
    right: str
    against: Literal["reference", "baseline"]
    lost: dict[str, tuple[str, ...]]
    gained: tuple[str, ...]
    certain: tuple[str, ...]
    shown: bool
    test: SignFlip


def violation_rules(material: Material, names: Sequence[str], clusters: Mapping[str, str]) -> list[PairedRule]:
    """One rule per variant of `names` that has a baseline; cases that either side does not know are left out."""
    baseline = material.baseline
    if baseline is None:
        return []
    found = []
    for name in names:
        was, now = baseline.hard_violations.get(name, {}), hard_violations(material.trials, name)
        exact = {
            trial.trace.case_id
            for trial in material.trials
            if trial.trace.variant == name and trial.trace.provenance.label == "exact"
        }
        cases = [case.id for case in material.cases if case.id in exact and case.id in baseline.values.get(name, {})]
        new = {case: tuple(sorted({*now.get(case, ())} - {*was.get(case, ())})) for case in cases}
        gone = {case for case in cases if {*was.get(case, ())} - {*now.get(case, ())}}
        lost = {case: violated for case, violated in new.items() if violated}
        found.append(
            PairedRule(
                rule=ON_ROUTES,
                left=name,
                right=f"{name} (baseline)",
                against="baseline",
                lost=lost,
                gained=tuple(sorted(gone)),
                certain=tuple(case for case in lost if case in replayed_cases(material, name)),
                shown=bool(lost),
                test=change_test(cases, lost, gone, clusters),
            )
        )
    return found


def replayed_cases(material: Material, name: str) -> frozenset[str]:
    """Cases that a variant answers from the same cassette (or without asking a model), with the same prompt, as when
    its baseline was blessed."""
    baseline = material.baseline
    prompt = next((info.prompt_digest for info in material.variants if info.variant.name == name), None)
    if baseline is None or baseline.prompts.get(name) != prompt:
        return frozenset()
    mine, cases = material.cassettes, [case.id for case in material.cases]
    asked = {trial.trace.case_id for trial in material.trials if trial.trace.variant == name and trial.trace.calls}
    same = (case for case in cases if mine.get(case) == baseline.cassettes.get(case))
    return frozenset(case for case in same if case in mine or case not in asked)


def change_test(
    cases: Sequence[str], lost: Mapping[str, object], gained: set[str], clusters: Mapping[str, str]
) -> SignFlip:
    """The sign-flip test of cases lost against cases gained; a case that is both has not changed on balance."""
    changes = [float((case in gained) - (case in lost)) for case in cases]
    test = sign_flip(changes, [clusters[case] for case in cases], np.random.default_rng(SEED))
    return test or SignFlip(1.0, 1.0, 1.0)


def rule_test(
    rule: PairedRule, p_holm: float, counted: int, clusters: Mapping[str, str], policy: GatePolicy
) -> RuleTest:
    """The rule with its adjusted p, the verdict, and how many cases would have been significant."""
    gained = len({clusters[case] for case in rule.gained})
    needed = len(rule.certain) if rule.rule.kind == HARD else len(rule.lost)
    certain = len(rule.certain) >= max(1, needed)
    return RuleTest(
        kind=rule.rule.kind,
        left=rule.left,
        right=rule.right,
        against=rule.against,
        what=f"{rule.rule.metric} of {rule.rule.part}" if rule.rule.part else "",
        lost=rule.lost,
        gained=rule.gained,
        certain=rule.certain,
        p_value=rule.test.worse,
        p_holm=p_holm,
        fewest=smallest_significant_flips(len(set(clusters.values())), gained=gained, alpha=policy.alpha / counted),
        worse=certain or p_holm <= policy.alpha,
    )
