"""What a judge model is asked and what it answered: grades, preferences and measured accuracy."""

import json
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from evals.models.base import Closed, Sealed
from evals.models.run import Baseline, Comparison, Run
from evals.models.trace import Trace

Preference = Literal["first", "second", "tie"]
AGENT: Final = "judge"


def endpoint(question: str) -> str:
    """What the score of a question is called."""
    return f"{AGENT}.{question}"


class PairAnswer(BaseModel):
    """Which of two write-ups a maintainer would rather get."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    first_strength: str
    second_strength: str
    reason: str
    preferred: Preference


class Grade(Closed):
    """One question answered: a grade of its scale, why, and the words it rests on."""

    grade: str
    reason: str
    quotes: tuple[str, ...] = ()


Grades = dict[str, Grade]


CHECK_SCHEMA: Final = 1
TRUSTED: Final = 0.8
"""The balanced accuracy below which a grade is shown and never gates."""
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]


class Rate(Closed):
    """`hits` of `n`, with the 95 % interval of a rate; no interval of nothing."""

    hits: Count
    n: Count
    low: Share | None
    high: Share | None

    @property
    def share(self) -> float | None:
        """The rate; None of nothing."""
        return self.hits / self.n if self.n else None


class Reliability(Closed):
    """How far the grades of one question can be trusted: how often a defect that it has to see lowers its grade
    (`caught`), how often a harmless change does not (`spared`), and the mean of both with a cluster bootstrap's 95 %
    interval. `missing` answers of its check are not recorded."""

    question: str
    caught: Rate
    spared: Rate
    balanced: Share | None
    low: Share | None
    high: Share | None
    missing: Count

    @property
    def may_gate(self) -> bool:
        """Whether it was measured in full, and found good enough."""
        return self.balanced is not None and self.balanced >= TRUSTED and not self.missing


class DefectRate(Closed):
    """A kind of defect: how often the grade it has to lower fell, and how often any did."""

    kind: str
    what: str
    question: str
    caught: Rate
    noticed: Rate


class RewordingRate(Closed):
    """A kind of harmless change: how often each grade fell for it. `drift` is the mean change over all questions, in
    steps of their scales; `length` whether it makes the text longer (1), shorter (-1) or neither."""

    kind: str
    what: str
    punished: dict[str, Rate]
    drift: float | None
    length: Literal[-1, 0, 1]


class AttackResult(Closed):
    """One attack in a broken report: the grade of the question that the report's defect has to lower, without and with
    the attack, and which grades rose. None: not recorded."""

    kind: str
    place: str
    text: str
    case_id: str
    defect: str
    question: str
    before: str | None
    after: str | None
    rose: tuple[str, ...] = ()


class JudgeAgreement(Closed):
    """Two answers to the same questions: the share that agree, and kappa with quadratic weights."""

    question: str
    same: Rate
    kappa: float | None
    low: float | None
    high: float | None


class Position(Closed):
    """Pairs asked in both orders: how often the first was preferred where one was, how often both orders named the same
    report (or both a tie), and how often the longer text was preferred where one was."""

    pairs: Count
    first: Rate
    consistent: Rate
    longer: Rate


class JudgeCheck(Sealed):
    """Everything one `evals judge` found out. `asked` questions, of which `missing` have no recorded answer."""

    schema_version: int = CHECK_SCHEMA
    suite: str
    variant: str
    version: str
    model: str
    asked: Count
    missing: Count
    originals: Count
    grades: dict[str, dict[str, int]]
    """How often each grade was given to an unbroken report."""
    defects: tuple[DefectRate, ...]
    rewordings: tuple[RewordingRate, ...]
    attacks: tuple[AttackResult, ...]
    agreements: tuple[JudgeAgreement, ...]
    position: Position
    reliability: tuple[Reliability, ...]


class JudgedTrial(Closed):
    """What the judge said of one trial's report; an `error` where its answer could not be read, no grades where none is
    recorded."""

    case_id: str
    variant: str
    sample: Count
    grades: Grades = Field(default_factory=dict)
    error: str | None = None


class JudgeScore(Closed):
    """One question's grades of one variant: how often each was given, and the mean over `n` cases of the place on its
    scale (0 worst, 1 best) with a cluster bootstrap's 95 % interval. `total` cases wrote a report."""

    variant: str
    question: str
    n: Count
    total: Count
    counts: dict[str, int]
    mean: Share | None
    low: Share | None
    high: Share | None


class HitCell(Closed):
    """Trials with one value of the metric that knows the truth, and one grade of the question about the same."""

    hit: bool
    grade: str
    count: Count


class Disagreement(Closed):
    """A trial that the metric that knows the truth and the judge see differently: a label or a scorer to look at."""

    case_id: str
    variant: str
    hit: bool
    grade: str
    reason: str
    quotes: tuple[str, ...] = ()


class Preferences(Closed):
    """Which report of two a maintainer would rather get: cases for the candidate, for the reference, ties, and those
    whose two orders contradict each other, which count as ties. `equal` wrote the same. `p_value` is of the exact
    two-sided sign test over clusters; `missing` cases lack an answer."""

    candidate: str
    reference: str
    better: Count
    worse: Count
    tie: Count
    contradicted: Count
    equal: Count
    missing: Count
    p_value: Share | None


UNNAMED: Final = ("true value", "grade")


class Judgement(Closed):
    """All a run's judge has to say. `prompts` are digests by file; `missing` answers are not recorded."""

    version: str
    model: str
    prompts: dict[str, str]
    asked: Count
    missing: Count
    trials: tuple[JudgedTrial, ...]
    scores: tuple[JudgeScore, ...]
    comparisons: tuple[Comparison, ...]
    cells: tuple[HitCell, ...]
    disagreements: tuple[Disagreement, ...]
    preferences: Preferences
    reliability: tuple[Reliability, ...] = ()
    """Empty in a part of a suite, where it is not measured."""
    truth: Annotated[tuple[str, str], Field(exclude_if=lambda names: names == UNNAMED)] = UNNAMED
    """The metric that knows the truth, and the grade of the same."""

    @property
    def asked_with(self) -> dict[str, str]:
        """What grades have to share to be comparable: digests of the prompts, and the model."""
        return {**self.prompts, "model": self.model}

    @property
    def scales(self) -> dict[str, tuple[str, ...]]:
        """Question -> its grades, worst first."""
        return {score.question: tuple(reversed(score.counts)) for score in self.scores}


class BlessedJudge(Closed):
    """What a judge said when the suite was blessed. `grades`: variant -> metric -> case -> mean place on the scale."""

    asked_with: dict[str, str]
    grades: dict[str, dict[str, dict[str, float]]]
    reliability: tuple[Reliability, ...] = ()

    @classmethod
    def of(cls, baseline: Baseline | None) -> "BlessedJudge | None":
        """What a baseline keeps of it; None where that has no judge."""
        return cls.model_validate_json(json.dumps(baseline.judge)) if baseline and baseline.judge else None


class JudgedRun(Run):
    """A run of a suite that has a judge."""

    judge: Judgement

    def grades_of(self, trace: Trace) -> Grades:
        """What the judge said of what a trial wrote; empty where it said nothing."""
        name = (trace.case_id, trace.variant, trace.sample)
        return next((one.grades for one in self.judge.trials if (one.case_id, one.variant, one.sample) == name), {})
