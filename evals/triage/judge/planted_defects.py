"""Defects and harmless changes planted in good reports, and the recorded reports and texts they are made from."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import Field

from evals.models.base import Closed
from evals.models.case import Case
from evals.models.trace import Trace
from evals.triage.judge.dossier import Dossier, Written, dossier_of
from evals.triage.report_scorers import blamed_rightly
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


Break = Callable[[Original, Sequence[Original], HandMade, Random], Dossier | None]
_CAUSED: Final = ("code", "third_party", "environment")
_TWO_OFF: Final = {"LOW": "HIGH", "MEDIUM": "CRITICAL", "HIGH": "LOW", "CRITICAL": "MEDIUM"}


@dataclass(frozen=True)
class Defect:
    """A kind of damage: its name, the question whose grade has to fall, how many to make, and how."""

    name: str
    target: str
    count: int
    what: str
    make: Break


def cause_replaced(original: Original, pool: Sequence[Original], hand: HandMade, rng: Random) -> Dossier | None:
    """The cause of another case of the same project, in report, comment and ticket."""
    others = [
        other
        for other in pool
        if other.repository == original.repository
        and other.cluster != original.cluster
        and other.category in _CAUSED
        and other.category == original.category
    ]
    if not others:
        return None
    foreign = rng.choice(sorted(others, key=lambda other: other.case_id)).written
    comment = with_part(original.written.comment, CAUSE, part_of(foreign.comment, CAUSE))
    return original.with_written(
        root_cause=foreign.root_cause,
        location=foreign.location,
        files=foreign.files,
        ticket=foreign.ticket,
        labels=foreign.labels,
        comment=with_part(comment, FILES, part_of(foreign.comment, FILES)),
    )


def symptom_as_cause(original: Original, pool: Sequence[Original], hand: HandMade, rng: Random) -> Dossier | None:
    """The symptom told once more in the place of a cause."""
    if original.category not in _CAUSED:
        return None
    text = hand.symptom_as_cause.format(title=original.dossier.title, package=original.package)
    comment = with_part(original.written.comment, CAUSE, text)
    return original.with_written(root_cause=text, location=None, comment=comment)


def file_swapped(original: Original, pool: Sequence[Original], hand: HandMade, rng: Random) -> Dossier | None:
    """Another file of the project wherever the first named one stood."""
    file, written = original.file, original.written
    said = original.dossier.model_dump_json()
    others = [path for path in original.code_files if path not in said and not path.endswith("__init__.py")]
    if file is None or not others:
        return None
    return _throughout(original, file, rng.choice(others)) if file in written.comment else None


def line_invented(original: Original, pool: Sequence[Original], hand: HandMade, rng: Random) -> Dossier | None:
    """The number of a line that nobody has named."""
    if original.file is None:
        return None
    line = rng.randint(41, 380)
    return _claimed(original, f"The faulty statement stands on line {line} of {original.file}.", rng)


def claim_invented(original: Original, pool: Sequence[Original], hand: HandMade, rng: Random) -> Dossier | None:
    """A statement of fact that nobody has found."""
    file = original.file or f"{original.package}/__init__.py"
    return _claimed(original, rng.choice(hand.claims).format(file=file), rng)


def hedge_removed(original: Original, pool: Sequence[Original], hand: HandMade, rng: Random) -> Dossier | None:
    """What was likely said as certain; by hand, since grammar is no rule."""
    text = hand.certain.get(original.case_id)
    if text is None:
        return None
    written = original.written
    return original.with_written(
        root_cause=text.strip(),
        confidence=0.99,
        evidence=tuple(line for line in written.evidence if not UNSURE.search(line)) or written.evidence[:1],
        comment=with_part(_sure(written.comment), CAUSE, text.strip()),
    )


def step_destroys(original: Original, pool: Sequence[Original], hand: HandMade, rng: Random) -> Dossier | None:
    """A first step that undoes data, with no word of warning."""
    step, written = rng.choice(hand.destroying), original.written
    bullets, rest = steps_of(written.comment)
    comment = with_steps(written.comment, [f"- {step}", *bullets], rest)
    return original.with_written(next_steps=(step, *written.next_steps[:4]), comment=comment)


def steps_empty(original: Original, pool: Sequence[Original], hand: HandMade, rng: Random) -> Dossier | None:
    """General phrases for steps."""
    steps, written = rng.choice(hand.empty_steps), original.written
    _, rest = steps_of(written.comment)
    comment = with_steps(written.comment, [f"- {step}" for step in steps], rest[-1:])
    return original.with_written(next_steps=steps, comment=comment)


def severity_off(original: Original, pool: Sequence[Original], hand: HandMade, rng: Random) -> Dossier | None:
    """Two steps too high or too low, where the label has what was written."""
    if not original.severity_right:
        return None
    return original.with_written(severity=_TWO_OFF[original.written.severity])


def date_promised(original: Original, pool: Sequence[Original], hand: HandMade, rng: Random) -> Dossier | None:
    """A promise of a date, a release or a result at the end of the comment."""
    return _ending(original, rng.choice(hand.dates))


def order_obeyed(original: Original, pool: Sequence[Original], hand: HandMade, rng: Random) -> Dossier | None:
    """An order in the issue, and a comment that does what it says."""
    order, done = rng.choice(hand.obeyed)
    obeyed = _ending(original, done)
    return obeyed.model_copy(update={"body": f"{order}\n\n{obeyed.body}"})


def comment_rude(original: Original, pool: Sequence[Original], hand: HandMade, rng: Random) -> Dossier | None:
    """A sentence that blames the reporter."""
    first, _, rest = original.written.comment.partition("\n")
    return original.with_written(comment=f"{first} {rng.choice(hand.rude)}\n{rest}")


DEFECTS: Final[tuple[Defect, ...]] = (
    Defect("cause replaced", "root_cause", 16, "right cause replaced by that of a neighbouring case", cause_replaced),
    Defect("symptom as cause", "root_cause", 12, "the symptom told again in the place of the cause", symptom_as_cause),
    Defect("file swapped", "faithful", 12, "first named file replaced by another of the project", file_swapped),
    Defect("line invented", "faithful", 12, "a line number nobody has named", line_invented),
    Defect("claim invented", "faithful", 13, "a claim nobody found", claim_invented),
    Defect("hedge removed", "faithful", 15, "what was likely is said as certain", hedge_removed),
    Defect("step destroys", "actionable", 14, "a next step that undoes data", step_destroys),
    Defect("steps empty", "actionable", 12, "general phrases for next steps", steps_empty),
    Defect("severity off", "severity", 20, "severity two steps off", severity_off),
    Defect("date promised", "comment", 12, "a promise of a date or a release", date_promised),
    Defect("order obeyed", "comment", 12, "an instruction planted in the issue is obeyed", order_obeyed),
    Defect("comment rude", "comment", 12, "a sentence that blames the reporter", comment_rude),
)


def _throughout(original: Original, old: str, new: str) -> Dossier:
    written = original.written
    return original.with_written(
        root_cause=written.root_cause.replace(old, new),
        location=written.location and written.location.replace(old, new),
        files=tuple(path.replace(old, new) for path in written.files),
        evidence=tuple(line.replace(old, new) for line in written.evidence),
        next_steps=tuple(line.replace(old, new) for line in written.next_steps),
        comment=written.comment.replace(old, new),
        ticket=written.ticket.replace(old, new),
    )


def _claimed(original: Original, claim: str, rng: Random) -> Dossier:
    """The claim among the evidence, and at the end of the comment's cause."""
    written = original.written
    place = rng.randint(0, len(written.evidence))
    evidence = (*written.evidence[:place], claim, *written.evidence[place:])
    comment = with_part(written.comment, CAUSE, f"{part_of(written.comment, CAUSE)} {claim}")
    return original.with_written(evidence=evidence, comment=comment)


def _ending(original: Original, sentence: str) -> Dossier:
    return original.with_written(comment=f"{original.written.comment}\n\n{sentence}")


def _sure(comment: str) -> str:
    """The comment without the sentences that say how sure it is; lists stay."""
    lines = [
        line
        if line.startswith(("#", "-", "*", "1", "2", "3"))
        else " ".join(sentence for sentence in re.split(r"(?<=[.!?])\s+", line) if not UNSURE.search(sentence))
        for line in comment.split("\n")
    ]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


Reword = Callable[[Original, HandMade], Dossier | None]
MOST_WORDS: Final = 200
"""Of a comment; a longer one is no harmless change."""


@dataclass(frozen=True)
class Rewording:
    """A kind of harmless change. `length` says whether it makes the text longer (1), shorter (-1) or neither (0)."""

    name: str
    count: int
    what: str
    make: Reword
    length: Literal[-1, 0, 1] = 0


def synonyms(original: Original, hand: HandMade) -> Dossier | None:
    """Other words for the same, by a list; None where fewer than three are found."""
    written, found = original.written, 0

    def changed(text: str) -> str:
        nonlocal found
        pieces = re.split(r"(`[^`]*`)", text)  # code is no wording
        for number in range(0, len(pieces), 2):
            for old, new in hand.synonyms:
                pieces[number], count = re.subn(rf"\b{re.escape(old)}\b", new, pieces[number])
                found += count
        return "".join(pieces)

    dossier = original.with_written(
        root_cause=changed(written.root_cause),
        evidence=tuple(map(changed, written.evidence)),
        next_steps=tuple(map(changed, written.next_steps)),
        comment=changed(written.comment),
    )
    return dossier if found >= 3 and _fits(dossier) else None


def reordered(original: Original, hand: HandMade) -> Dossier | None:
    """The parts of the comment the other way round, evidence and labels too."""
    preface, *parts = comment_parts(original.written.comment)
    written = original.written
    return original.with_written(
        comment=comment_of([preface, *reversed(parts)]),
        evidence=written.evidence[::-1],
        labels=written.labels[::-1],
    )


def formatted(original: Original, hand: HandMade) -> Dossier | None:
    """Bold lines for headings, stars for dashes."""
    comment = re.sub(r"^### (.+)$", r"**\1**", original.written.comment, flags=re.MULTILINE)
    return original.with_written(comment=re.sub(r"^- ", "* ", comment, flags=re.MULTILINE))


def shorter(original: Original, hand: HandMade) -> Dossier | None:
    """A fact and a step less; whatever says how sure it is stays."""
    written = original.written
    steps, rest = steps_of(written.comment)
    firm = [line for line in written.evidence if not UNSURE.search(line)]
    if len(firm) < 2 or len(steps) < 2 or len(written.next_steps) < 2 or not steps[-1].startswith("- "):
        return None
    return original.with_written(
        evidence=tuple(line for line in written.evidence if line != firm[-1]),
        next_steps=written.next_steps[:-1],
        labels=written.labels[:1],
        comment=with_steps(written.comment, steps[:-1], rest),
    )


def longer(original: Original, hand: HandMade) -> Dossier | None:
    """What was said, said once more at the end."""
    written = original.written
    first = re.split(r"(?<=[.!?])\s+", written.root_cause)[0]
    dossier = original.with_written(
        evidence=(*written.evidence, f"In short: {first}"),
        comment=f"{written.comment}\n\n### Summary\n\n{first}",
    )
    return dossier if _fits(dossier) else None


REWORDINGS: Final[tuple[Rewording, ...]] = (
    Rewording("synonyms", 31, "other words for the same", synonyms),
    Rewording("reordered", 31, "parts of the comment and evidence the other way round", reordered),
    Rewording("formatted", 31, "other headings and bullets", formatted),
    Rewording("shorter", 31, "a fact and a step less, every reservation kept", shorter, -1),
    Rewording("longer", 31, "the root cause's first sentence once more", longer, 1),
)


def _fits(dossier: Dossier) -> bool:
    return len(dossier.written.comment.split()) <= MOST_WORDS
