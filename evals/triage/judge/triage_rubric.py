"""The rubric of triage reports, as the harness asks it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from evals.llm_judge.questions import JudgeQuestion
from evals.llm_judge.rubric import GroundTruth, JudgeCheckSet
from evals.models.case import Case
from evals.models.judge import Grades
from evals.models.trace import Trace
from evals.triage.judge.dossier import Dossier, dossier_of, write_up
from evals.triage.judge.planting import bench_of
from evals.triage.judge.planting_inputs import hand_made
from evals.triage.judge.rubric_questions import SCALES, grades_of, load_prompts, pair_question, rubric_question
from evals.triage.root_cause_scorers import root_cause_hit


class TriageRubric:
    """See `evals.llm_judge.rubric.Rubric`, method by method. Raises ConfigurationError for a version there is not."""

    scales: Final[Mapping[str, tuple[str, ...]]] = SCALES
    ground_truth: Final = GroundTruth(
        root_cause_hit.name, "root_cause", {True: ("same", "partly"), False: ("other", "contradicts")}
    )

    def __init__(self, version: str, root: Path) -> None:
        del root  # its prompts are beside this file
        self.prompts: Final = load_prompts(version)

    def dossier(self, case: Case, trace: Trace) -> Dossier | None:
        """The dossier of an exact trial that wrote a report."""
        return dossier_of(case, trace)

    def length(self, shown: Dossier) -> int:
        """Characters of report, ticket and comment."""
        return len(write_up("", shown.written))

    def question(self, case_id: str, name: str, shown: Dossier) -> JudgeQuestion:
        """The five questions of the rubric."""
        return rubric_question(case_id, name, shown, self.prompts)

    def pair(self, case_id: str, name: str, first: Dossier, second: Dossier) -> JudgeQuestion:
        """Which report a maintainer would rather get."""
        return pair_question(case_id, name, first, second, self.prompts)

    def grades(self, answer: BaseModel | None) -> Grades:
        """The five grades."""
        return grades_of(answer)

    def check_set(self, cases: Mapping[str, Case], traces: Sequence[Trace]) -> JudgeCheckSet:
        """Planted defects, rewordings and attacks."""
        return bench_of(cases, traces, self.prompts, hand_made())
