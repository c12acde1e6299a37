"""Slices that collapsed: archetypes of which a variant passes no case any more.

A small slice is lost in a mean over all cases. Where the answers are those of the baseline, three lost cases are
enough; where they were recorded anew, or belong to another variant, the slice is tested like a metric.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from evals.judging.comparison import Rule
from evals.judging.material import Material
from evals.judging.summary import case_means
from evals.judging.violations import PairedRule, change_test, replayed_cases
from evals.models.case import Archetype, Case
from evals.models.run import CaseInfo

LEAST: Final = 3
"""Fewer cases that passed are no slice: each of them is named as a lost case."""
COLLAPSED: Final = "slice collapsed"
ENDPOINTS: Final = ("route.pass", "root_cause.hit")


def slice_rules(material: Material, names: Sequence[str], clusters: Mapping[str, str]) -> list[PairedRule]:
    """Every slice of the candidate against the reference, and of each variant of `names` against its baseline."""
    suite, baseline = material.suite, material.baseline
    found: list[PairedRule] = []
    for endpoint in ENDPOINTS:
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
    slices: dict[Archetype, list[str]] = {}
    for case in material.cases:
        slices.setdefault(_archetype(case), []).append(case.id)
    replayed = replayed_cases(material, pair[0]) if against == "baseline" else frozenset()
    for archetype, mine in slices.items():
        both = [case for case in mine if case in now and case in was]
        lost: dict[str, tuple[str, ...]] = {case: () for case in both if now[case] < was[case]}
        gained = {case for case in both if now[case] > was[case]}
        if lost or gained:
            passed = [case for case in mine if was.get(case, 0) > 0]
            collapsed = len(passed) >= LEAST and all(case in now for case in passed) and not any(map(now.get, mine))
            yield PairedRule(
                rule=Rule(endpoint, COLLAPSED, archetype),
                left=pair[0],
                right=pair[1],
                against=against,
                lost=lost,
                gained=tuple(sorted(gained)),
                certain=tuple(case for case in lost if case in replayed),
                shown=collapsed,
                test=change_test(both, lost, gained, clusters),
            )


def _archetype(case: Case | CaseInfo) -> Archetype:
    return case.archetype if isinstance(case, CaseInfo) else case.labels.archetype
