"""Hard constraints as a paired test: cases in which a variant newly violates one, against cases where it stopped to."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np

from evals.comparison.baseline import hard_violations
from evals.comparison.metric_summaries import SEED, Material
from evals.comparison.paired_comparison import TestedRule
from evals.models.run import RuleTest
from evals.models.suite import GatePolicy
from evals.scoring.route_scorers import route_pass
from evals.statistics.paired_tests import SignFlip, sign_flip
from evals.statistics.power import smallest_significant_flips

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
