"""A comment taken apart by its headings, and put together again."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

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
class Part:
    """A part of a comment; the first has no heading."""

    heading: str
    text: str


def comment_parts(comment: str) -> list[Part]:
    """A comment by its headings."""
    preface, *rest = _HEADING.split(comment)
    pairs = zip(rest[::2], rest[1::2], strict=True)
    return [Part("", preface.strip()), *(Part(heading.strip(), text.strip()) for heading, text in pairs)]


def comment_of(parts: Sequence[Part]) -> str:
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
