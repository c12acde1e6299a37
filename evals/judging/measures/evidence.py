"""What a measure is taken from: the trials of one variant, its cases, and the reference's trials beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from evals.judging.summary import SEED, case_means, open_cases
from evals.models.measure import Source
from evals.models.outcome import Scored
from evals.models.route import Choice
from evals.models.run import CaseInfo, PointInfo, Trial

Side = Literal["variant", "reference"]


class Answer(NamedTuple):
    """A stated confidence, and whether the root cause it is about was right."""

    case_id: str
    sample: int
    confidence: float
    correct: bool


class Point(NamedTuple):
    """The grade of one frozen state, averaged over samples; None where a sample is not recorded."""

    case_id: str
    point: str
    gold: Choice
    grade: float | None


@dataclass(frozen=True)
class Evidence:
    """The trials of `variant`, and of the `reference` it is held against."""

    variant: str
    reference: str
    cases: Mapping[str, CaseInfo]
    trials: Sequence[Trial]

    def own(self, side: Side = "variant") -> list[Trial]:
        """The trials of one side."""
        name = self.variant if side == "variant" else self.reference
        return [trial for trial in self.trials if trial.trace.variant == name]

    def exact(self, side: Side = "variant") -> list[Trial]:
        """Those of them that are wholly on the tape."""
        return [trial for trial in self.own(side) if trial.trace.provenance.label == "exact"]

    def open(self, side: Side = "variant") -> int:
        """How many are not, so that nobody knows what they come to."""
        return len(self.own(side)) - len(self.exact(side))

    def open_pairs(self) -> int:
        """How many pairs of trials, one of each side, are not wholly on the tape on both."""
        asked = _keys(self.own()) & _keys(self.own("reference"))
        return len(asked - (_keys(self.exact()) & _keys(self.exact("reference"))))

    def means(self, scorer: str) -> dict[str, float]:
        """Case id -> mean of the variant's scored samples."""
        return case_means(self.trials, self.variant, scorer)

    def open_cases(self, scorer: str) -> dict[str, float]:
        """Case id -> share of the variant's samples whose score is off the tape; cases without any left out."""
        return {state.case_id: share for state, share in open_cases(self.trials, self.variant, scorer).items()}

    def clusters(self, case_ids: Sequence[str]) -> list[str]:
        """What each case is resampled with."""
        return [self.cases[case].cluster for case in case_ids]

    def rng(self) -> np.random.Generator:
        """The same chance for every measure and every run."""
        return np.random.default_rng(SEED)

    def answers(self, source: Source, side: Side = "variant") -> list[Answer]:
        """Every confidence that was stated in an exact trial whose root cause is scored."""
        found = []
        for trial in self.exact(side):
            hit, stated = trial.outcomes.get("root_cause.hit"), _confidence(trial, source)
            if isinstance(hit, Scored) and stated is not None:
                found.append(Answer(trial.trace.case_id, trial.trace.sample, stated, hit.value == 1))
        return found

    def points(self) -> list[Point]:
        """Every frozen state the variant was asked about and had a say in, in order of trial and label."""
        asked: dict[str, list[Trial]] = {}
        for trial in self.own():
            asked.setdefault(trial.trace.case_id, []).append(trial)
        return [
            Point(case, point.id, point.gold, _grade(mine, point))
            for case, mine in asked.items()
            for point in self.cases[case].points
            if not any(point.id in trial.trace.without_say for trial in mine)
        ]


def _keys(trials: Sequence[Trial]) -> set[tuple[str, int]]:
    return {(trial.trace.case_id, trial.trace.sample) for trial in trials}


def _confidence(trial: Trial, source: Source) -> float | None:
    if source == "supervisor":
        return trial.trace.confidence_before_writer
    return trial.trace.report.confidence if trial.trace.report else None


def _grade(trials: Sequence[Trial], point: PointInfo) -> float | None:
    """Mean grade over samples; None unless every sample is recorded."""
    chosen = [trial.trace.choices[point.id] for trial in trials if point.id in trial.trace.choices]
    grades = [point.accept.get(node, 0.0) for node in chosen]
    return sum(grades) / len(grades) if len(grades) == len(trials) else None
