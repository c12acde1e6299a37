"""A sentence in pieces, those that name a case being links to it."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

_WORD: Final = re.compile(r"([\w.-]*\w)")
"""A case's id is one word: letters, digits, dots and hyphens, with no mark of the sentence at its end."""


@dataclass(frozen=True)
class Piece:
    """A part of a sentence; `is_case` if it is the id of a case."""

    text: str
    is_case: bool


def pieces(sentence: str, case_ids: Collection[str]) -> tuple[Piece, ...]:
    """The sentence, cut at the ids it names; joined they are the sentence again."""
    found: list[Piece] = []
    for part in filter(None, _WORD.split(sentence)):
        is_case = part in case_ids
        if found and not is_case and not found[-1].is_case:
            found[-1] = Piece(found[-1].text + part, is_case=False)
        else:
            found.append(Piece(part, is_case))
    return tuple(found)
