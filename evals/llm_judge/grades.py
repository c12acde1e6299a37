"""Answers as grades, and grades as numbers: a place on the question's scale."""

from collections.abc import Mapping, Sequence
from typing import Final, get_args

from evals.llm_judge.ask import Heard
from evals.models.judge import SCALES, Grade, Grades, Rubric, RubricAnswer

QUESTIONS: Final[tuple[Rubric, ...]] = get_args(Rubric)


def grades_of(heard: Heard | None) -> Grades:
    """The five grades of an answer; empty where there is none."""
    answer = heard.answer if heard is not None else None
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


def place(question: Rubric, grade: str) -> int:
    """How many grades of the scale are worse."""
    return SCALES[question].index(grade)


def value(question: Rubric, grade: str) -> float:
    """The place as a share of the scale: 0 the worst grade, 1 the best."""
    return place(question, grade) / (len(SCALES[question]) - 1)


def change(question: Rubric, before: Mapping[Rubric, Grade], after: Mapping[Rubric, Grade]) -> int | None:
    """By how many steps a grade rose (or fell, below 0); None where one of the two is not there."""
    if question not in before or question not in after:
        return None
    return place(question, after[question].grade) - place(question, before[question].grade)


def _said(*quotes: str) -> tuple[str, ...]:
    return tuple(quote for quote in quotes if quote.strip())


def counts(question: Rubric, given: Sequence[Grades]) -> dict[str, int]:
    """How often each grade of a scale was given, the best first."""
    names = [grades[question].grade for grades in given if question in grades]
    return {grade: names.count(grade) for grade in reversed(SCALES[question])}
