"""Hunks between two versions of a prompt, and prompts in which some hunks are added or removed.

`v3 to v5 +2` is v3 with hunk 2 of the diff to v5; `v3 to v5 -2` is v5 without hunk 2; `v3 to v5 +2+4` has
two hunks. Front matter (between two `---` lines) is never part of a hunk: it is that of v3 or v5.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import product
from typing import Final, Literal

from evals.errors import ConfigurationError

_SPEC: Final = re.compile(r"(.+?) to (.+) ((?:\+\d+)+|(?:-\d+)+)")
_HEAD: Final = re.compile(r"---\s*\n.*?\n---[ \t]*\n", re.DOTALL)
_BEGINS: Final = re.compile(r"[-*+] |\d+[.)] |#|<!--")
"""A line that begins a list item, heading or mark; it can be changed without the line before."""
_PLACEHOLDER: Final = re.compile(r"(?<!\{)\{\w+\}(?!\})|\{\{\s*\w+\s*\}\}|\$\w+|\$\{\w+\}")
_BY_CHANCE: Final = 0.1
"""Word overlap of unrelated paragraphs, subtracted from the overlap. Chosen by hand."""


@dataclass(frozen=True)
class HunkSpec:
    """Two versions, and hunks that are added to the first or removed from the second."""

    old: str
    new: str
    hunks: tuple[int, ...]
    sign: Literal["+", "-"]

    @classmethod
    def parse(cls, spec: str) -> "HunkSpec | None":
        """What `spec` names; None where it names no hunk."""
        if not (found := _SPEC.fullmatch(spec)):
            return None
        sign: Literal["+", "-"] = "+" if found[3][0] == "+" else "-"
        return cls(found[1], found[2], tuple(map(int, re.findall(r"\d+", found[3]))), sign)

    def __str__(self) -> str:
        return f"{self.old} to {self.new} {''.join(f'{self.sign}{number}' for number in self.hunks)}"

    def text(self, old: str, new: str) -> str:
        """The prompt, from the texts of both versions.

        Raises:
            ConfigurationError: a number that no hunk has.
        """
        parts = parts_between(old, new)
        count = sum(part.hunk > 0 for part in parts)
        if unknown := [number for number in self.hunks if not 1 <= number <= count]:
            raise ConfigurationError(f"{self}: there is no hunk {unknown[0]}; {self.old} to {self.new} has {count}")
        shows_new = {part.hunk for part in parts if (part.hunk in self.hunks) == (self.sign == "+")}
        head = split_head(old if self.sign == "+" else new)[0]
        return head + "".join(part.new if part.hunk in shows_new else part.old for part in parts)


@dataclass(frozen=True)
class Part:
    """A stretch of a prompt in both versions; `hunk` counts from 1, and is 0 where they agree."""

    old: str
    new: str
    hunk: int = 0


def split_head(text: str) -> tuple[str, str]:
    """Front matter (empty where there is none) and body."""
    found = _HEAD.match(text)
    return (text[: found.end()], text[found.end() :]) if found else ("", text)


@lru_cache(maxsize=8)
def parts_between(old: str, new: str) -> tuple[Part, ...]:
    """The bodies of two prompts part by part. Hunks are whole paragraphs and list items. Those that move a placeholder
    from one to the other have one number, since one alone would lose the placeholder, or have it twice."""
    olds, news = _units(split_head(old)[1]), _units(split_head(new)[1])
    pairs: list[tuple[str, str]] = []
    for tag, a, b, c, d in SequenceMatcher(str.isspace, olds, news, autojunk=False).get_opcodes():
        pairs += [("".join(olds[a:b]), "".join(news[c:d]))] if tag == "equal" else _aligned(olds[a:b], news[c:d])
    changed = [pair for pair in pairs if pair[0] != pair[1]]
    numbers = dict(zip(range(len(changed)), _numbered(changed), strict=True))
    place = iter(range(len(changed)))
    return tuple(Part(one, other, 0 if one == other else numbers[next(place)]) for one, other in pairs)


def _numbered(changed: Sequence[tuple[str, str]]) -> list[int]:
    """The number of each hunk, from 1; hunks that exchange a placeholder share one."""
    groups = list(range(len(changed)))
    lost, gained = ([_names(pair[i]) - _names(pair[1 - i]) for pair in changed] for i in (0, 1))
    for one, names in enumerate(lost):
        for other, taken in enumerate(gained):
            if names & taken:
                groups = [groups[one] if group == groups[other] else group for group in groups]
    order = {group: number for number, group in enumerate(dict.fromkeys(groups), start=1)}
    return [order[group] for group in groups]


def _names(text: str) -> set[str]:
    return set(_PLACEHOLDER.findall(text))


def _units(body: str) -> list[str]:
    """List items, headings, marks and paragraphs, each with its further lines; blank lines by themselves."""
    units: list[str] = []
    for line in (f"{line}\n" for line in body.splitlines()):
        goes_on = bool(units) and not units[-1].isspace() and not line.isspace() and not _BEGINS.match(line)
        if goes_on and not units[-1].startswith(("#", "<!--")):
            units[-1] += line
        else:
            units.append(line)
    return units


def _aligned(olds: Sequence[str], news: Sequence[str]) -> list[tuple[str, str]]:
    """Changed paragraphs aligned in order (dynamic programming): one may split, or several merge. Pairs share the most
    words; then the fewest were only added or removed."""
    a, b = list(_paragraphs(olds)), list(_paragraphs(news))
    numbers: dict[str, int] = {}
    a_words, b_words = _words(a, numbers), _words(b, numbers)
    best = {(0, 0): (0.0, 0, 0)}  # score, minus pairs with an empty side, pairs
    came_from = {}
    for i, j in list(product(range(len(a) + 1), range(len(b) + 1)))[1:]:
        ways = [(k, m) for k in range(i - 1) for m in range(max(j - 1, 0), j + 1)]
        ways += [(k, m) for k in range(max(i - 1, 0), i + 1) for m in range(j + 1)][:-1]  # all but (i, j) itself
        found = []
        for k, m in ways:
            score, two_sided, count = best[k, m]
            alike = _alike(a_words[k, i], b_words[m, j])
            found.append((score + alike, two_sided - (k == i or m == j), count + 1))
        best[i, j] = max(found)
        came_from[i, j] = ways[found.index(best[i, j])]
    i, j = len(a), len(b)
    pairs = []
    while (i, j) != (0, 0):
        k, m = came_from[i, j]
        pairs.append(("".join(a[k:i]), "".join(b[m:j])))
        i, j = k, m
    return pairs[::-1]


def _paragraphs(units: Sequence[str]) -> Iterator[str]:
    """Paragraphs with the blank lines after them; a heading and all below it, down to the next one, are not divided."""
    text = ""
    for unit, following in zip(units, [*units, "#"][1:], strict=True):
        text += unit
        ends = unit.isspace() and not following.isspace() and not text.lstrip().startswith("#")
        if ends or following.startswith("#"):
            yield text
            text = ""


def _words(paragraphs: Sequence[str], numbers: dict[str, int]) -> dict[tuple[int, int], int]:
    """The words of each stretch of paragraphs, by its ends: one bit per word, at its number in `numbers`."""
    found = {}
    for start in range(len(paragraphs) + 1):
        words = found[start, start] = 0
        for end, text in enumerate(paragraphs[start:], start + 1):
            for word in re.findall(r"[a-z_]{4,}", text.lower()):
                words |= 1 << numbers.setdefault(word, len(numbers))
            found[start, end] = words
    return found


def _alike(one: int, other: int) -> float:
    """How much more than by chance two texts share words (Dice's coefficient); 0 where one is empty."""
    return max(0.0, 2 * (one & other).bit_count() / max(1, one.bit_count() + other.bit_count()) - _BY_CHANCE)
