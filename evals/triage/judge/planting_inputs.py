"""Inputs of planting: a recorded report taken apart, and hand-written texts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import Field

from evals.models.base import Closed
from evals.models.case import Case
from evals.models.trace import Trace
from evals.triage.judge.dossier import Dossier, Written, dossier_of
from evals.triage.root_cause_scorers import blamed_rightly
from evals.triage.typed_views import repository_files

_HEADING: Final = re.compile(r"^### (.+)$", re.MULTILINE)
CAUSE: Final = "Likely root cause"
FILES: Final = "Files concerned"
STEPS: Final = "Next steps"
UNSURE: Final = re.compile(
    r"\b(not (?:been|yet|proven|confirmed|shown|seen|verified|checked)|unproven|guess\w*|likely|probabl\w+|may|might"
    r"|sure|certain|confiden\w+|suspect\w*)\b|%",
    re.IGNORECASE,
)
"""What says how sure something is."""


@dataclass(frozen=True)
class CommentPart:
    """A part of a comment; the first has no heading."""

    heading: str
    text: str


def comment_parts(comment: str) -> list[CommentPart]:
    """A comment by its headings."""
    preface, *rest = _HEADING.split(comment)
    pairs = zip(rest[::2], rest[1::2], strict=True)
    return [CommentPart("", preface.strip()), *(CommentPart(heading.strip(), text.strip()) for heading, text in pairs)]


def comment_of(parts: Sequence[CommentPart]) -> str:
    """The parts as a comment."""
    texts = (f"### {part.heading}\n\n{part.text}" if part.heading else part.text for part in parts)
    return "\n\n".join(text for text in texts if text)


def part_of(comment: str, heading: str) -> str:
    """The text under a heading; empty if there is none."""
    return next((part.text for part in comment_parts(comment) if part.heading == heading), "")


def with_part(comment: str, heading: str, text: str) -> str:
    """The comment with another text under one of its headings; all around it stays as it is."""
    place = comment.find(f"### {heading}")
    old = part_of(comment, heading)
    if place < 0 or not old:
        return comment
    start = comment.index(old, place)
    return comment[:start] + text + comment[start + len(old) :]


def steps_of(comment: str) -> tuple[list[str], list[str]]:
    """The lines of the list under "Next steps", and the paragraphs that follow it."""
    lines, *rest = part_of(comment, STEPS).split("\n\n")
    return lines.split("\n"), rest


def with_steps(comment: str, lines: Sequence[str], rest: Sequence[str]) -> str:
    """The comment with another list of next steps, and these paragraphs after it."""
    return with_part(comment, STEPS, "\n\n".join(["\n".join(lines), *rest]))


_PARTS: Final = 4
"""Of a comment that rules can be applied to: what stands before its headings, and the three that it has."""


@dataclass(frozen=True)
class Original:
    """A report that blames the right file, or rightly none. `severity_right`: it has the labelled severity."""

    case_id: str
    cluster: str
    repository: str
    category: str
    severity_right: bool
    code_files: tuple[str, ...]
    dossier: Dossier

    @property
    def written(self) -> Written:
        """What was written."""
        return self.dossier.written

    @property
    def package(self) -> str:
        """The project's name."""
        return self.repository.rpartition("/")[2]

    @property
    def file(self) -> str | None:
        """The first file of the repository that the report names."""
        return next((path for path in self.written.files if path in self.code_files), None)

    def with_written(self, **changes: Any) -> Dossier:  # noqa: ANN401 - fields of `Written`
        """The dossier with some of what was written changed."""
        return self.dossier.model_copy(update={"written": self.written.model_copy(update=changes)})


def original_of(case: Case, trace: Trace) -> Original | None:
    """The report of a trial as an original; None where it is not good enough to be broken."""
    dossier = dossier_of(case, trace)
    if dossier is None or not blamed_rightly(case, trace) or len(comment_parts(dossier.written.comment)) < _PARTS:
        return None
    return Original(
        case_id=case.id,
        cluster=case.cluster,
        repository=case.repository,
        category=case.labels.category,
        severity_right=dossier.written.severity == case.labels.severity,
        code_files=tuple(path for path in repository_files(trace) if path.endswith(".py") and "test" not in path),
        dossier=dossier,
    )


FILE: Final = Path(__file__).parent / "planted.yaml"
Place = Literal["report", "comment", "issue", "finding", "ticket"]
Text = Annotated[str, Field(min_length=1)]


class HandMade(Closed):
    """Sentences by what they are planted as; `certain` are root causes by case, without their hedges."""

    seed: int
    synonyms: tuple[tuple[Text, Text], ...]
    symptom_as_cause: Text
    claims: tuple[Text, ...]
    destroying: tuple[Text, ...]
    empty_steps: tuple[tuple[Text, ...], ...]
    dates: tuple[Text, ...]
    obeyed: tuple[tuple[Text, Text], ...]
    rude: tuple[Text, ...]
    certain: dict[str, Text]
    attacks: tuple[tuple[Place, Text], ...]


@cache
def hand_made() -> HandMade:
    """The file's content."""
    return HandMade.model_validate(yaml.safe_load(FILE.read_text(encoding="utf-8")))
