"""How far a search looks: the first one as usual, each retry with more chunks, both sides' words, and its reasons."""

import re
from pathlib import PurePosixPath
from typing import Final

from triage.configuration import RulesSettings
from triage.findings import asks
from triage.state import BugTriageState, SearchScope
from triage.supervisors.rules.evidence import OUTSIDE, binding_review, file_of, this_round
from triage.supervisors.rules.signals import Signals, invented

_NAME: Final = re.compile(r"[A-Za-z_]\w*")


def first_scope(settings: RulesSettings) -> SearchScope:
    """The search of a round's beginning: no wider than anybody's, only filtered."""
    return SearchScope(chunks=settings.chunks, min_score=settings.min_score)


def wider_scope(
    state: BugTriageState, signals: Signals, paths: frozenset[str], settings: RulesSettings, retry: int
) -> SearchScope:
    """The search of the `retry`-th retry, counting from 1: as many chunks again, and what it is to settle."""
    return SearchScope(
        chunks=settings.chunks * (1 + retry),
        min_score=settings.min_score,
        keywords=tuple(_keywords(state, signals)),
        instructions=tuple(_instructions(state, signals, paths)),
    )


def _keywords(state: BugTriageState, signals: Signals) -> list[str]:
    """Of each side of a conflict its file, its module's name, and the functions that were named in it."""
    words: list[str] = []
    for side in signals.sides:
        if side != OUTSIDE:
            words += [side, PurePosixPath(side).stem, *_functions(state, side)]
    return list(dict.fromkeys(words))


def _functions(state: BugTriageState, side: str) -> list[str]:
    named = [found.details.partition("::")[2] for found in this_round(state) if file_of(found.details) == side]
    return [word for text in named for word in _NAME.findall(text)]


def _instructions(state: BugTriageState, signals: Signals, paths: frozenset[str]) -> list[str]:
    """What the worker is told to do differently; one line for each thing that is wrong."""
    review = binding_review(state)
    made_up, gaps = invented(state, paths), review.required_evidence if review else ()
    lines = [f"{path} is not in the repository: name only files that the snippets show." for path in made_up]
    lines += asks(gaps)
    if signals.sides:
        lines.append(f"The fault was placed in {' and in '.join(signals.sides)}: judge by the code which it is.")
    return [*lines, "An earlier search was not conclusive: look beyond the first match."]
