"""Rewordings: what leaves a report as good as it was, so that no grade may fall for it."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from evals.llm_judge.hand import HandMade
from evals.llm_judge.planting.comment import UNSURE, comment_of, comment_parts, steps_of, with_steps
from evals.llm_judge.planting.original import Original
from evals.models.judge import Dossier

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
    length: int = 0


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
