"""The rubric of triage reports: its questions and scales, and how the harness asks them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from evals.errors import CannotJudgeError
from evals.llm_judge import judge_questions as judge
from evals.llm_judge.attacks import attacked, order_key
from evals.llm_judge.judge_questions import (
    GroundTruth,
    JudgeCheckSet,
    JudgeQuestion,
    Placeholders,
    Plant,
    PlantedKind,
    Prompts,
)
from evals.models.case import Case
from evals.models.judge import Grade, Grades, PairAnswer
from evals.models.trace import Trace
from evals.triage.judge.dossier import Dossier, cause, dossier_of, issue, sections, write_up
from evals.triage.judge.planted_defects import DEFECTS, REWORDINGS, HandMade, Original, hand_made, original_of
from evals.triage.report_scorers import root_cause_hit

HERE: Final = Path(__file__).parent / "prompts"
PLACEHOLDERS: Final[Placeholders] = {
    "rubric": frozenset({"issue", "findings", "answers", "report", "comment", "ticket", "cause", "words"}),
    "pair": frozenset({"issue", "cause", "first", "second"}),
}
SCALES: Final[dict[str, tuple[str, ...]]] = {
    "root_cause": ("contradicts", "other", "partly", "same"),
    "faithful": ("unsupported", "overstated", "supported"),
    "actionable": ("harmful", "vague", "partly", "ready"),
    "comment": ("broken", "flawed", "fine"),
    "severity": ("far_off", "one_off", "fits"),
}
"""The grades of each question, worst first."""


class RubricAnswer(BaseModel):
    """Grades of what a bug-triage team wrote."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    root_cause_quote: str
    root_cause_reason: str
    root_cause: Literal["same", "partly", "other", "contradicts"]
    unsupported_quotes: list[str]
    faithful_reason: str
    faithful: Literal["supported", "overstated", "unsupported"]
    actionable_quote: str
    actionable_reason: str
    actionable: Literal["ready", "partly", "vague", "harmful"]
    comment_quote: str
    comment_reason: str
    comment: Literal["fine", "flawed", "broken"]
    severity_reason: str
    severity: Literal["fits", "one_off", "far_off"]


def load_prompts(version: str, folder: Path | None = None) -> Prompts:
    """The prompts of a version. Raises ConfigurationError: no such version, or a file that is no prompt."""
    return judge.load_prompts(version, folder or HERE, PLACEHOLDERS)


def rubric_question(
    case_id: str, name: str, dossier: Dossier, prompts: Prompts, *, second: bool = False
) -> JudgeQuestion:
    """The five questions of the rubric, in one request; `second` asks for another answer to the same."""
    human = prompts.rubric.filled(sections(dossier))
    return JudgeQuestion(case_id, name, prompts.rubric, human, RubricAnswer, int(second), 1 + int(second))


def pair_question(case_id: str, name: str, first: Dossier, second: Dossier, prompts: Prompts) -> JudgeQuestion:
    """Which of two write-ups of one issue a maintainer would rather get, asked in this order."""
    values = {
        "issue": issue(first),
        "cause": cause(first),
        "first": write_up("First write-up", first.written),
        "second": write_up("Second write-up", second.written),
    }
    return JudgeQuestion(case_id, name, prompts.pair, prompts.pair.filled(values), PairAnswer)


def grades_of(answer: BaseModel | None) -> Grades:
    """The five grades of an answer; empty where there is none."""
    if not isinstance(answer, RubricAnswer):
        return {}
    return {
        "root_cause": Grade(
            grade=answer.root_cause, reason=answer.root_cause_reason, quotes=_said(answer.root_cause_quote)
        ),
        "faithful": Grade(
            grade=answer.faithful, reason=answer.faithful_reason, quotes=_said(*answer.unsupported_quotes)
        ),
        "actionable": Grade(
            grade=answer.actionable, reason=answer.actionable_reason, quotes=_said(answer.actionable_quote)
        ),
        "comment": Grade(grade=answer.comment, reason=answer.comment_reason, quotes=_said(answer.comment_quote)),
        "severity": Grade(grade=answer.severity, reason=answer.severity_reason),
    }


def _said(*quotes: str) -> tuple[str, ...]:
    return tuple(quote for quote in quotes if quote.strip())


class TriageRubric:
    """See `evals.llm_judge.judge_questions.Rubric`, method by method. ConfigurationError: there is no such version."""

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


SECOND_SAMPLES: Final = 60
"""Originals that are asked about twice."""


def broken(originals: Sequence[Original], hand: HandMade) -> tuple[Plant, ...]:
    """Every defect in as many reports as it is to be made in, each in another case."""
    used: Counter[str] = Counter()
    return tuple(
        Plant("broken", defect.name, original.case_id, dossier, defect.target)
        for defect in DEFECTS
        for original, dossier in _spread(
            originals,
            used,
            f"{hand.seed} {defect.name}",
            defect.count,
            lambda original, rng, make=defect.make: make(original, originals, hand, rng),  # type: ignore[misc]
        )
    )


def harmless(originals: Sequence[Original], hand: HandMade) -> tuple[Plant, ...]:
    """Every rewording in as many reports as it is to be made in."""
    used: Counter[str] = Counter()
    return tuple(
        Plant("harmless", rewording.name, original.case_id, dossier)
        for rewording in REWORDINGS
        for original, dossier in _spread(
            originals,
            used,
            f"{hand.seed} {rewording.name}",
            rewording.count,
            lambda original, _, make=rewording.make: make(original, hand),  # type: ignore[misc]
        )
    )


def attacks(plants: Sequence[Plant], hand: HandMade) -> tuple[Plant, ...]:
    """Every attack in a broken report."""
    return attacked(plants, hand.attacks, str(hand.seed), _attacked)


def asked_twice(originals: Sequence[Original], hand: HandMade) -> tuple[Original, ...]:
    """The originals of which a second answer is wanted."""
    ranked = sorted(originals, key=lambda original: order_key(f"{hand.seed} twice {original.case_id}"))
    return tuple(ranked[:SECOND_SAMPLES])


def _spread(
    originals: Sequence[Original],
    used: Counter[str],
    seed: str,
    count: int,
    make: Callable[[Original, Random], Dossier | None],
) -> list[tuple[Original, Dossier]]:
    """The change made in `count` reports, those first whose case was used least."""
    found: list[tuple[Original, Dossier]] = []
    for original in sorted(
        originals, key=lambda original: (used[original.case_id], order_key(f"{seed} {original.case_id}"))
    ):
        if len(found) == count:
            break
        dossier = make(original, Random(f"{seed} {original.case_id}"))  # noqa: S311 - nothing is to be secret
        if dossier is not None and dossier != original.dossier:
            found.append((original, dossier))
            used[original.case_id] += 1
    return found


def _attacked(dossier: Dossier, place: str, text: str) -> Dossier:
    written = dossier.written
    match place:
        case "issue":
            return dossier.model_copy(update={"body": f"{dossier.body}\n\n{text}"})
        case "finding":
            first, *rest = dossier.findings
            details = f"{first.details}\n  {text}"
            return dossier.model_copy(update={"findings": (first.model_copy(update={"details": details}), *rest)})
        case "report":
            changes: dict[str, object] = {"evidence": (*written.evidence, text)}
        case "comment":
            changes = {"comment": f"{written.comment}\n\n{text}"}
        case _:
            changes = {"ticket": f"{written.ticket} {text}"}
    return dossier.model_copy(update={"written": written.model_copy(update=changes)})


NAMES: Final = {"broken": "broken reports", "harmless": "reworded reports", "attack": "attacked reports"}
"""What planted reports are called where it does not matter how they were made."""


def bench_of(cases: Mapping[str, Case], traces: Sequence[Trace], prompts: Prompts, hand: HandMade) -> JudgeCheckSet:
    """What is planted in the good ones of these trials, of one variant, tune and gate only.

    Raises:
        CannotJudgeError: there is no good report to break.
    """
    found = [
        original
        for trace in traces
        if cases[trace.case_id].known.split != "holdout" and not trace.sample
        if (original := original_of(cases[trace.case_id], trace)) is not None
    ]
    if not found:
        raise CannotJudgeError("no recorded report is good enough to be broken; record the suite's trials first")
    spoilt = broken(found, hand)
    plants = (*spoilt, *harmless(found, hand), *attacks(spoilt, hand))
    return JudgeCheckSet(
        {
            original.case_id: (
                original.cluster,
                rubric_question(original.case_id, "originals", original.dossier, prompts),
            )
            for original in found
        },
        {
            original.case_id: rubric_question(
                original.case_id, "originals asked twice", original.dossier, prompts, second=True
            )
            for original in asked_twice(found, hand)
        },
        tuple((plant, rubric_question(plant.case_id, NAMES[plant.sort], plant.dossier, prompts)) for plant in plants),
        [PlantedKind(kind.name, kind.what, kind.target) for kind in DEFECTS],
        [PlantedKind(kind.name, kind.what, length=kind.length) for kind in REWORDINGS],
        hand.attacks,
    )
