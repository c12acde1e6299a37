"""Which pieces of a case's bodies are said once: those whose text is longer than the names that would stand for it.

Neighbours become one piece where that makes the file shorter: they always follow each other, or often enough that
saying one of them again costs less than a name at every place. The best joins come first, round by round, and each
makes the file shorter, so this ends; equal bodies in equal order give equal pieces.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Final

from evals.cassette.cut import cut

_DEFINITION: Final = 30  # characters a shared piece costs besides its text: two names, quotes, indentation
_ALIAS: Final = 12
_QUOTES: Final = 8  # of a text that is said in its place
_DIGITS: Final = (8, 16, 64)

Pair = tuple[str, str]


@dataclass(frozen=True)
class Shared:
    """Bodies in pieces, and the names of those that are said once, sorted by name."""

    bodies: tuple[tuple[str, ...], ...]
    names: Mapping[str, str]


def shared(bodies: Sequence[str]) -> Shared:
    """The pieces of these bodies; joined, each row of pieces is its body."""
    rows = [cut(body) for body in bodies]
    while joins := _worth_joining(rows):
        rows = [_joined(row, joins) for row in rows]
    said = Counter(chain.from_iterable(rows))
    return Shared(tuple(map(tuple, rows)), _named([text for text, times in said.items() if _is_shared(text, times)]))


def name_of(piece: str, digits: int = _DIGITS[0]) -> str:
    """What a piece is called: its content's digest, so that no other piece's coming or going renames it."""
    return "p" + hashlib.sha256(piece.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


def is_name_of(name: str, piece: str) -> bool:
    """Whether the name is one this piece may have."""
    return any(name == name_of(piece, digits) for digits in _DIGITS)


def _named(texts: Sequence[str]) -> dict[str, str]:
    """Text -> name; longer names for all where two would be called alike."""
    for digits in _DIGITS:
        names = {text: name_of(text, digits) for text in texts}
        if len(set(names.values())) == len(names):
            break
    return dict(sorted(names.items(), key=lambda item: item[1]))


def _worth_joining(rows: Sequence[Sequence[str]]) -> dict[Pair, str]:
    """Neighbours to join now, and the pieces they become; no piece is in two, so that each saves what it says."""
    said = Counter(chain.from_iterable(rows))
    pairs = Counter(chain.from_iterable(map(pairwise, rows)))
    savings = [(_saved(pair, times, said), pair) for pair, times in pairs.items() if times > 1 and pair[0] != pair[1]]
    joins: dict[Pair, str] = {}
    taken: set[str] = set()
    for _, pair in sorted((found for found in savings if found[0] > 0), key=lambda found: (-found[0], found[1])):
        if taken.isdisjoint(pair):
            taken.update(pair)
            joins[pair] = "".join(pair)
    return joins


def _saved(pair: Pair, times: int, said: Mapping[str, int]) -> int:
    apart = sum(_cost(text, said[text]) - _cost(text, said[text] - times) for text in pair)
    return apart - _cost("".join(pair), times)


def _cost(text: str, times: int) -> int:
    """About how long a file gets by a piece that stands in it so often."""
    if _is_shared(text, times):
        return len(text) + _DEFINITION + times * _ALIAS
    return times * (len(text) + _QUOTES)


def _is_shared(text: str, times: int) -> bool:
    return times > 1 and len(text) + _DEFINITION + times * _ALIAS < times * (len(text) + _QUOTES)


def _joined(row: Sequence[str], joins: Mapping[Pair, str]) -> list[str]:
    found: list[str] = []
    for piece in row:
        whole = joins.get((found[-1], piece)) if found else None
        if whole is None:
            found.append(piece)
        else:
            found[-1] = whole
    return found
