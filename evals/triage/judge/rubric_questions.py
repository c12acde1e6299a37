"""Questions of the rubric: prompts, scales, and the answer that a model is asked for."""

from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from evals.llm_judge import questions as judge
from evals.llm_judge.questions import JudgeQuestion, Placeholders, Prompts
from evals.models.judge import Grade, Grades, PairAnswer
from evals.triage.judge.dossier import Dossier, cause, issue, sections, write_up

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
