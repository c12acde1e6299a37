"""Values that primary metrics lost: cases and decision points that had a value and have none, though they are recorded.

A comparison pairs what both sides have, so a value that is gone cannot fall. What is not recorded is left to the rule
about coverage.
"""

from collections.abc import Iterator, Sequence

from evals.judging.frozen import state_grades
from evals.judging.material import Material
from evals.judging.scoring import scorer_infos
from evals.judging.summary import case_means
from evals.models.outcome import Failed
from evals.models.run import Baseline, ScorerInfo, Trial

Place = tuple[str, str]
"""A case with one of its decision points, or with "" where the metric has one value per case."""


def lost_values(material: Material, now: Baseline) -> tuple[str, ...]:
    """One sentence per variant and primary metric: against its baseline, and of the candidate against the reference.
    `now` is what these trials would be blessed as: where it has every value, the trials are not looked at again.
    """
    primary = [scorer for scorer in scorer_infos() if scorer.primary]
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
    cases = {case.id: case for case in material.cases}
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
    return f"{len(places)} {'decision point' if points else 'case'}{'s' * (len(places) != 1)}"


def _some(lost: set[Place], shown: int = 3) -> str:
    names = sorted({case for case, _ in lost})
    return ", ".join(names[:shown]) + (f" and {len(names) - shown} more" if len(names) > shown else "")
