"""Defects: what makes a good report bad, and which grade has to fall for it.

Each takes an original, all of them, the hand-made parts and a generator; None where it does not apply.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from evals.llm_judge.hand import HandMade
from evals.llm_judge.planting.comment import CAUSE, FILES, UNSURE, part_of, steps_of, with_part, with_steps
from evals.llm_judge.planting.original import Original
from evals.models.judge import Dossier, Rubric

Break = Callable[[Original, Sequence[Original], HandMade, Random], Dossier | None]
_CAUSED: Final = ("code", "third_party", "environment")
_TWO_OFF: Final = {"LOW": "HIGH", "MEDIUM": "CRITICAL", "HIGH": "LOW", "CRITICAL": "MEDIUM"}


@dataclass(frozen=True)
class Defect:
    """A kind of damage: its name, the question whose grade has to fall, how many to make, and how."""

    name: str
    target: Rubric
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
