"""Rubric: what a pack asks a judge about its trials, and how the judge is measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from evals.llm_judge.questions import JudgeQuestion, Prompts
from evals.models.case import Case
from evals.models.judge import Grades
from evals.models.trace import Trace


class Shown(Protocol):
    """What a judge is shown of a trial. `written` is what the trial wrote; equal ones are not compared."""

    @property
    def written(self) -> object:
        """What the trial wrote."""


@dataclass(frozen=True)
class GroundTruth:
    """A metric that knows the truth, and the question about the same. `agrees` are the grades that go with a metric of
    1 (True) and of 0 (False)."""

    metric: str
    question: str
    agrees: Mapping[bool, tuple[str, ...]]


@dataclass(frozen=True)
class Plant:
    """A changed report of a case. `kind` is the defect, rewording or attack; `target` the question whose grade has to
    fall, None where none may. Of an attack, `base` names the broken report that it stands in, and the grade of `target`
    must not rise."""

    sort: Literal["broken", "harmless", "attack"]
    kind: str
    case_id: str
    dossier: Any
    target: str | None = None
    base: str = ""

    @property
    def name(self) -> str:
        """What it is called, once in a check."""
        return f"{self.case_id}: {self.kind}"


@dataclass(frozen=True)
class PlantedKind:
    """A kind of defect, with the question whose grade has to fall, or of harmless change: whether it makes the text
    longer (1), shorter (-1) or neither (0)."""

    name: str
    what: str
    target: str = ""
    length: Literal[-1, 0, 1] = 0


@dataclass(frozen=True)
class JudgeCheckSet:
    """The reports of a check, each with its question: `originals` by case, with the case's cluster; `again` those that
    are asked twice. `attacks` are (place, text), in the order of the attacks among the plants."""

    originals: Mapping[str, tuple[str, JudgeQuestion]]
    again: Mapping[str, JudgeQuestion]
    plants: tuple[tuple[Plant, JudgeQuestion], ...]
    defects: Sequence[PlantedKind] = ()
    rewordings: Sequence[PlantedKind] = ()
    attacks: Sequence[tuple[str, str]] = ()

    @property
    def questions(self) -> tuple[JudgeQuestion, ...]:
        """All of them."""
        first = (question for _, question in self.originals.values())
        return (*first, *self.again.values(), *(question for _, question in self.plants))


class Rubric(Protocol):
    """What a pack asks its judge, in the version that a suite names."""

    @property
    def scales(self) -> Mapping[str, tuple[str, ...]]:
        """Question -> its grades, worst first; in the order of the report."""

    @property
    def ground_truth(self) -> GroundTruth | None:
        """The metric that the judge's grades are held against, if one knows the truth."""

    @property
    def prompts(self) -> Prompts:
        """The prompts of the version."""

    def dossier(self, case: Case, trace: Trace) -> Shown | None:
        """What the judge is shown of an exact trial; None where there is nothing to grade."""

    def length(self, shown: Any) -> int:  # noqa: ANN401 - what `dossier` of the same rubric gives
        """Characters of what the trial wrote, as the judge is shown it."""

    def question(self, case_id: str, name: str, shown: Any) -> JudgeQuestion:  # noqa: ANN401 - as above
        """All questions of the rubric about one trial, in one request."""

    def pair(self, case_id: str, name: str, first: Any, second: Any) -> JudgeQuestion | None:  # noqa: ANN401 - as above
        """Which of two trials of a case wrote the better text; answered by a `PairAnswer`. None: it is not asked."""

    def grades(self, answer: BaseModel | None) -> Grades:
        """The grades of an answer; empty where there is none."""

    def check_set(self, cases: Mapping[str, Case], traces: Sequence[Trace]) -> JudgeCheckSet:
        """What is planted in the good ones of these trials of one variant. Raises CannotJudgeError: there are none."""
