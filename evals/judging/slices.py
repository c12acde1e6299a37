"""Slices that collapsed: archetypes of which a variant passes no case any more.

A small slice is lost in a mean over all cases, and too small for a test of its own. Of at least three cases that
passed before, none is left by chance only where each turned round by itself, and at replay nothing does.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from evals.judging.material import Material
from evals.judging.summary import case_means
from evals.models.case import Archetype, Case
from evals.models.run import CaseInfo

LEAST: Final = 3
"""Fewer cases that passed are no slice: what became of them, broken cases tell one by one."""
ENDPOINTS: Final = ("route.pass", "root_cause.hit")


def collapsed_slices(material: Material) -> tuple[str, ...]:
    """One sentence per slice that the candidate lost against the reference, or any variant against its baseline."""
    suite, baseline = material.suite, material.baseline
    found: list[str] = []
    for endpoint in ENDPOINTS:
        now = {name: case_means(material.trials, name, endpoint) for name in material.names}
        if suite.candidate in now and suite.reference in now:
            pair = f"{suite.candidate} against {suite.reference}"
            found += _lost(material, f"{endpoint} of {pair}", now[suite.candidate], now[suite.reference])
        for name in material.names:
            stored = baseline.values.get(name, {}) if baseline else {}
            was = {case: scores[endpoint] for case, scores in stored.items() if endpoint in scores}
            found += _lost(material, f"{endpoint} of {name} against {name} (baseline)", now[name], was)
    return tuple(found)


def _lost(material: Material, what: str, now: Mapping[str, float], was: Mapping[str, float]) -> Iterator[str]:
    slices: dict[Archetype, list[str]] = {}
    for case in material.cases:
        slices.setdefault(_archetype(case), []).append(case.id)
    for archetype, mine in slices.items():
        passed = [case for case in mine if was.get(case, 0) > 0]
        if len(passed) >= LEAST and all(case in now for case in passed) and not any(now.get(case) for case in mine):
            yield f"{what}: of the {len(passed)} cases of {archetype} that passed, none does any more"


def _archetype(case: Case | CaseInfo) -> Archetype:
    return case.archetype if isinstance(case, CaseInfo) else case.labels.archetype
