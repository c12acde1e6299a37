"""What a judge is asked to fill in, and what became of it: grades on anchored scales, and preferences between two."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from evals.models.closed import Closed

Rubric = Literal["root_cause", "faithful", "actionable", "comment", "severity"]
Preference = Literal["first", "second", "tie"]
SCALES: Final[dict[Rubric, tuple[str, ...]]] = {
    "root_cause": ("contradicts", "other", "partly", "same"),
    "faithful": ("unsupported", "overstated", "supported"),
    "actionable": ("harmful", "vague", "partly", "ready"),
    "comment": ("broken", "flawed", "fine"),
    "severity": ("far_off", "one_off", "fits"),
}
"""The grades of each question, worst first."""
AGENT: Final = "judge"


def endpoint(question: Rubric) -> str:
    """What the score of a question is called."""
    return f"{AGENT}.{question}"


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


Grades = dict[Rubric, Grade]


class Finding(Closed):
    """What one visit learned, as the judge is shown it."""

    agent: str
    summary: str
    details: str
    confidence: Annotated[float, Field(ge=0, le=1)]
    files: tuple[str, ...] = ()


class Written(Closed):
    """What people read of a trial: the report's fields, the comment, the ticket's title and labels."""

    root_cause: str
    location: str | None
    category: str
    severity: Literal["CRITICAL", "HIGH", "MEDIUM", "LOW"]
    files: tuple[str, ...]
    evidence: tuple[str, ...]
    next_steps: tuple[str, ...]
    confidence: Annotated[float, Field(ge=0, le=1)]
    comment: str
    ticket: str
    labels: tuple[str, ...] = ()


class Dossier(Closed):
    """All a judge is shown of a trial: issue, what the team learned, what it wrote, and the label's one sentence."""

    title: str
    body: str
    findings: tuple[Finding, ...]
    answers: tuple[tuple[str, str], ...]
    """Questions to the user, each with what was answered."""
    written: Written
    cause: str
