"""Counts of cases by kind (`evals dataset show --counts`)."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final, get_args

from evals.models.base import Closed
from evals.models.case import Case, Split
from evals.models.route_spec import Choice
from evals.triage.case_file import Archetype
from evals.triage.dataset.checks.whole_dataset_checks import best_of
from evals.triage.nodes import CHOICES

IMPORTED: Final = "(imported)"
UNLABELLED: Final = "(unlabelled)"
SPLITS: Final[tuple[Split, ...]] = get_args(Split)


def origin_of_code(case: Case) -> str:
    """Whose code the case is about."""
    if case.tree is not None:
        return "released package"
    if case.labels.codebase is None:
        return IMPORTED
    return "written here" if case.labels.ours else "a live job's"


SLICES: Final[Mapping[str, Callable[[Case], str]]] = {
    "code": origin_of_code,
    "codebase": lambda case: case.labels.codebase or (case.repository if case.labels.base_commit else IMPORTED),
    "category": lambda case: _stated(case, "category", case.labels.category),
    "severity": lambda case: _stated(case, "severity", case.labels.severity),
    "question": lambda case: _stated(case, "question", case.labels.question.policy),
}
TOLD_DIFFERENTLY: Final[frozenset[Archetype]] = frozenset({"prompt_injection", "huge_log", "non_english"})


class Census(Closed):
    """Counts of cases; `clusters` counts twins once, `best_answers` decision points by the node graded highest.

    A label that an imported case's source does not state is counted as such, not as the default that stands there.
    """

    cases: int
    clusters: int
    decision_points: int
    archetypes: dict[str, dict[Split, int]]
    slices: dict[str, dict[str, int]]
    twins: dict[str, int]
    best_answers: dict[Choice, int]

    @property
    def splits(self) -> dict[Split, int]:
        """Cases per split."""
        return {split: sum(row[split] for row in self.archetypes.values()) for split in SPLITS}


def census(cases: Iterable[Case]) -> Census:
    """Count the cases; rows in alphabetical order, archetypes without a case included."""
    cases = list(cases)
    points = [point for case in cases for point in case.labels.decision_points]
    best = Counter(choice for point in points for choice in best_of(point))
    return Census(
        cases=len(cases),
        clusters=len({case.cluster for case in cases}),
        decision_points=len(points),
        archetypes={archetype: _by_split(cases, archetype) for archetype in _rows(cases)},
        slices={name: dict(sorted(Counter(map(slice_of, cases)).items())) for name, slice_of in SLICES.items()},
        twins=dict(sorted(Counter(_kind(twins) for twins in _pairs(cases)).items())),
        best_answers={choice: best[choice] for choice in CHOICES},
    )


def _rows(cases: Sequence[Case]) -> list[str]:
    return sorted({*get_args(Archetype), *map(_archetype, cases)})


def _archetype(case: Case) -> str:
    return _stated(case, "archetype", case.labels.archetype)


def _stated(case: Case, name: str, label: str) -> str:
    return UNLABELLED if name in case.labels.unlabelled else label


def _by_split(cases: Sequence[Case], archetype: str) -> dict[Split, int]:
    counts = Counter(case.labels.split for case in cases if _archetype(case) == archetype)
    return {split: counts[split] for split in SPLITS}


def _pairs(cases: Sequence[Case]) -> list[list[Case]]:
    paired = sorted((case for case in cases if case.labels.pair_id), key=lambda case: str(case.labels.pair_id))
    return [list(twins) for _, twins in groupby(paired, key=lambda case: case.labels.pair_id)]


def _kind(twins: Sequence[Case]) -> str:
    """What one twin has and the other has not."""
    told: list[str] = sorted({case.labels.archetype for case in twins} & TOLD_DIFFERENTLY)
    if told:
        return told[0]
    return "missing fact" if len({case.labels.question.policy for case in twins}) > 1 else "other"
