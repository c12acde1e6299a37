"""Which variants are compared with what: reference, baseline, guard ablations."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from evals.comparison.divergences import baseline_divergences, changes_of, clause, divergences
from evals.comparison.metric_summaries import Material, case_means, open_cases
from evals.comparison.paired_comparison import (
    Against,
    Key,
    Names,
    PairedRule,
    TestedRule,
    Values,
    change_test,
    compare,
    compare_family,
    paired,
    replayed_cases,
    rule_test,
    together,
    violation_rules,
)
from evals.models.case import Case
from evals.models.run import (
    CaseChange,
    CaseInfo,
    Comparison,
    Divergence,
    RuleTest,
    ScorerInfo,
    Trial,
    trial_metrics,
)
from evals.models.suite import GatePolicy, Variant
from evals.scoring.route_scorers import State, state_grades, unanswered_states

LEAST: Final = 3
"""Fewer cases that passed are no slice: each of them is named as a lost case."""
COLLAPSED: Final = "slice collapsed"


def slice_rules(material: Material, names: Sequence[str], clusters: Mapping[str, str]) -> list[PairedRule]:
    """Every slice of the candidate against the reference, and of each variant of `names` against its baseline."""
    suite, baseline = material.suite, material.baseline
    found: list[PairedRule] = []
    for endpoint in trial_metrics(material.metrics):
        now = {name: case_means(material.trials, name, endpoint) for name in material.names}
        if suite.candidate in now and suite.reference in now:
            pair = (suite.candidate, suite.reference)
            found += _slices(
                material, endpoint, pair, "reference", now[suite.candidate], now[suite.reference], clusters
            )
        for name in names:
            stored = baseline.values.get(name, {}) if baseline else {}
            was = {case: scores[endpoint] for case, scores in stored.items() if endpoint in scores}
            found += _slices(material, endpoint, (name, f"{name} (baseline)"), "baseline", now[name], was, clusters)
    return found


def _slices(
    material: Material,
    endpoint: str,
    pair: tuple[str, str],
    against: Literal["reference", "baseline"],
    now: Mapping[str, float],
    was: Mapping[str, float],
    clusters: Mapping[str, str],
) -> Iterator[PairedRule]:
    slices: dict[str, list[str]] = {}
    for case in material.cases:
        slices.setdefault(slice_of(case), []).append(case.id)
    replayed = replayed_cases(material, pair[0]) if against == "baseline" else frozenset()
    if against == "reference" and len(slices) == 1:  # the test of the metric says the same
        return
    for name, mine in slices.items():
        both = [case for case in mine if case in now and case in was]
        lost: dict[str, tuple[str, ...]] = {case: () for case in both if now[case] < was[case]}
        gained = {case for case in both if now[case] > was[case]}
        if lost or gained:
            passed = [case for case in mine if was.get(case, 0) > 0]
            collapsed = len(passed) >= LEAST and all(case in now for case in passed) and not any(map(now.get, mine))
            yield PairedRule(
                rule=TestedRule(endpoint, COLLAPSED, name),
                left=pair[0],
                right=pair[1],
                against=against,
                lost=lost,
                gained=tuple(sorted(gained)),
                certain=tuple(case for case in lost if case in replayed),
                shown=collapsed,
                test=change_test(both, lost, gained, clusters),
            )


def slice_of(case: Case | CaseInfo) -> str:
    """The kind of case: cases of one kind are a slice."""
    return case.slice if isinstance(case, CaseInfo) else case.known.kind


class Compared(NamedTuple):
    """Every comparison of a run, the rules tested beside them, and where each variant first diverges."""

    comparisons: tuple[Comparison, ...]
    rules: tuple[RuleTest, ...]
    divergences: tuple[Divergence, ...]
    changes: tuple[CaseChange, ...] = ()


def compared(material: Material, scorers: Sequence[ScorerInfo]) -> Compared:
    """Every comparison of the run, and where each variant parts ways with the reference and with its own baseline.

    All that the gate decides by is one family: the chance of any false alarm is at most alpha. Routes explain what came
    of routes; a score of frozen states has nothing to do with the way a trial took.
    """
    suite = material.suite
    primary = [scorer for scorer in scorers if scorer.primary]
    routed = {scorer.name for scorer in scorers if not scorer.open_loop}
    decided = {trial.trace.variant for trial in material.trials if trial.trace.decisions}
    parted = {
        name: divergences(material.trials, name, suite.reference)
        for name in material.names
        if name != suite.reference and {name, suite.reference} <= decided
    }
    baseline = material.baseline
    blessed = baseline.routes if baseline else {}
    since = {
        name: baseline_divergences(material.trials, name, blessed[name]) for name in material.names if name in blessed
    }
    judged, rules = _judged(material, primary)
    shown = against_reference(material, primary, but=suite.candidate)
    in_order = sorted((*judged, *shown), key=lambda item: _place(material, item))
    told = [
        _explained(item, (since if item.against == "baseline" else parted).get(item.left))
        if item.endpoint in routed
        else item
        for item in in_order
    ]
    return Compared(
        tuple(told),
        rules,
        tuple(one for found in (*parted.values(), *since.values()) for one in found),
        changes_of(material.earlier, material.names, material.trials),
    )


def _place(material: Material, item: Comparison) -> tuple[bool, int]:
    """Comparisons with the reference come first, each kind in the order of the variants."""
    return item.against == "baseline", material.names.index(item.left)


def may_have_broken(material: Material, variant: str, scorers: Sequence[ScorerInfo]) -> bool:
    """Whether anything of the variant is lower than what it is compared with: the reference, where it is the candidate,
    and its baseline. Where nothing is, no other case of the suite can make one of these count as broken.
    """
    suite, baseline = material.suite, material.baseline
    if changes_of(material.earlier, [variant], material.trials):
        return True
    for endpoint in (scorer for scorer in scorers if scorer.primary):
        held = []
        if variant == suite.candidate and suite.reference in material.names:
            held.append(scores(material, suite.reference, endpoint))
        if baseline is not None and baseline.values.get(variant):
            held.append(stored_scores(material, variant, endpoint))
        now = scores(material, variant, endpoint)
        if any(pair.now < pair.was for was in held for pair in paired(now, was)):
            return True
    return False


def _explained(item: Comparison, parted: Sequence[Divergence] | None) -> Comparison:
    """The comparison with what its broken cases have in common; as it is where nobody knows the ways they took."""
    if parted is None or not item.broke:
        return item
    return item.model_copy(update={"divergence": clause(item.broke, parted)})


def against_reference(
    material: Material, primary: Sequence[ScorerInfo], but: str | None = None
) -> tuple[Comparison, ...]:
    """Every other variant (but one) against the reference, on what was scored in this run; each a family of its own."""
    reference = material.suite.reference
    if reference not in material.names:
        return ()
    return tuple(
        item
        for name in material.names
        if name not in (reference, but)
        for item in compare(
            {(name, reference): _with_reference(material, name, primary)},
            material.clusters,
            "reference",
            material.suite.gate,
            _open(material, (name, reference), primary),
        )
    )


def _judged(material: Material, primary: Sequence[ScorerInfo]) -> tuple[tuple[Comparison, ...], tuple[RuleTest, ...]]:
    """What the gate decides by, as one family: the candidate against the reference, every variant against its baseline,
    and the rules tested beside their metrics."""
    suite, baseline, clusters = material.suite, material.baseline, material.clusters
    family: dict[Names, dict[str, tuple[Values, Values]]] = {}
    against: dict[Names, Against] = {}
    unknown: dict[Key, dict[State, float]] = {}
    if suite.reference in material.names and suite.candidate in material.names and suite.candidate != suite.reference:
        pair = (suite.candidate, suite.reference)
        family[pair], against[pair] = _with_reference(material, suite.candidate, primary), "reference"
        unknown |= _open(material, pair, primary)
    # a variant that was not recorded when it was blessed has nothing to lose
    blessed = [name for name in material.names if baseline is not None and baseline.values.get(name)]
    for name in blessed:
        pair = (name, f"{name} (baseline)")
        family[pair] = {one.name: (scores(material, name, one), stored_scores(material, name, one)) for one in primary}
        against[pair] = "baseline"
        unknown |= {(pair, metric.name): unknown_shares(material, (name,), metric) for metric in primary}
    rules = {
        ((rule.left, rule.right), rule.rule): rule
        for rule in (*violation_rules(material, blessed, clusters), *slice_rules(material, blessed, clusters))
    }
    found = compare_family(
        family, clusters, against, suite.gate, unknown, {key: rule.test for key, rule in rules.items()}
    )
    tested = tuple(
        rule_test(rule, *found.rules[key], clusters, suite.gate) for key, rule in rules.items() if rule.shown
    )
    return found.comparisons, tested


def _with_reference(material: Material, name: str, primary: Sequence[ScorerInfo]) -> dict[str, tuple[Values, Values]]:
    reference = material.suite.reference
    return {metric.name: (scores(material, name, metric), scores(material, reference, metric)) for metric in primary}


def _open(material: Material, pair: Names, primary: Sequence[ScorerInfo]) -> dict[Key, dict[State, float]]:
    return {(pair, metric.name): unknown_shares(material, pair, metric) for metric in primary}


def scores(material: Material, variant: str, endpoint: ScorerInfo) -> Values:
    """What is paired: case by case, or state by state."""
    if endpoint.macro:
        return state_grades(material.trials, material.by_id, variant, endpoint.name)
    return case_means(material.trials, variant, endpoint.name)


def stored_scores(material: Material, variant: str, endpoint: ScorerInfo) -> Values:
    """The same of the baseline. A state it knows by a name that is gone is left out: its labels have changed."""
    baseline, cases = material.baseline, material.by_id
    if baseline and not endpoint.macro:
        stored = baseline.values[variant].items()
        return {case: scores[endpoint.name] for case, scores in stored if endpoint.name in scores}
    grades = baseline.states.get(variant, {}) if baseline else {}
    return {
        State(case, point.id, point.gold): grades[case][point.id]
        for case in grades.keys() & cases.keys()
        for point in cases[case].points
        if point.id in grades[case]
    }


def unknown_shares(material: Material, variants: Sequence[str], endpoint: ScorerInfo) -> dict[State, float]:
    """Cases or states that any of the variants has no score for because the tape ran out, or not for every sample."""
    if endpoint.macro:
        return together(unanswered_states(material.trials, material.by_id, name, endpoint.name) for name in variants)
    return together(open_cases(material.trials, name, endpoint.name, open_loop=endpoint.open_loop) for name in variants)


WITHOUT: Final = "-without-"
"""A guard set with this in its name is the one before it, short of the guard behind it."""


def ablations(
    variants: Sequence[Variant],
    trials: Sequence[Trial],
    endpoints: Sequence[str],
    clusters: Mapping[str, str],
    policy: GatePolicy,
) -> tuple[Comparison, ...]:
    """Every variant that only lacks a guard (left) against the one that has it (right); one family for Holm."""
    pairs = [(one.name, whole.name) for one in variants for whole in variants if ablated(one, whole)]
    values = {
        name: {endpoint: case_means(trials, name, endpoint) for endpoint in endpoints}
        for name in {name for pair in pairs for name in pair}
    }
    family = {
        (left, right): {endpoint: (values[left][endpoint], values[right][endpoint]) for endpoint in endpoints}
        for left, right in pairs
    }
    unknown = {
        (pair, endpoint): together(open_cases(trials, name, endpoint) for name in pair)
        for pair in pairs
        for endpoint in endpoints
    }
    return compare(family, clusters, "whole set", policy, unknown)


def ablated(one: Variant, whole: Variant) -> bool:
    """Whether `one` is `whole` with one part left out of one setting, and the same in all else."""
    return any(
        str(one.settings.get(name)).startswith(f"{value}{WITHOUT}")
        and one.model_copy(update={"name": whole.name, name: value}) == whole
        for name, value in whole.settings.items()
    )
