"""Twins: cases that say the same in other words, side by side."""

from collections.abc import Mapping

from evals.judging.measures.evidence import Evidence
from evals.models.measure import Twins
from evals.models.run import CaseInfo


def twins_of(evidence: Evidence, endpoint: str) -> tuple[Twins, ...]:
    """Every pair among the cases, in order of its name."""
    values = evidence.means(endpoint)
    return tuple(_pair(name, members, endpoint, values, evidence) for name, members in _pairs(evidence.cases).items())


def _pairs(cases: Mapping[str, CaseInfo]) -> dict[str, list[CaseInfo]]:
    """Twins share their cluster; a case without one is a cluster of its own."""
    found: dict[str, list[CaseInfo]] = {}
    for case in cases.values():
        found.setdefault(case.cluster, []).append(case)
    return {name: members for name, members in sorted(found.items()) if len(members) > 1}


def _pair(name: str, members: list[CaseInfo], endpoint: str, values: Mapping[str, float], evidence: Evidence) -> Twins:
    mine = tuple(values.get(case.id) for case in members)
    return Twins(
        pair_id=name,
        variant=evidence.variant,
        endpoint=endpoint,
        cases=tuple(case.id for case in members),
        archetypes=tuple(case.archetype for case in members),
        values=mine,
        consistent=None if None in mine else len(set(mine)) == 1,
    )
