"""No two issues are the same story in the same words, save declared twins."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Final

from evals.dataset.finding import Complaint, Corpus
from evals.models.case import Case

SHINGLE: Final = 3  # words
NEAR: Final = 0.5  # Jaccard similarity of the shingle sets from which two issues count as one
SWALLOWED: Final = 0.7  # share of the shorter issue's shingles that stand in the longer one, a log around it say
NEAR_TITLE: Final = 0.75  # Jaccard similarity of the sets of words
LONG_ENOUGH: Final = 3  # words; two short titles are alike by chance
# Scripts written without spaces: each sign counts as a word, else a whole sentence would.
_WORD: Final = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]|[^\W\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]+")


def issues_differ(corpus: Corpus) -> Iterator[Complaint]:
    """No two issues share most of their word triples, nor does one stand inside the other."""
    shingles = {case.id: _shingles(case) for case in corpus.cases.values()}
    for case, (alike, other) in _closest(corpus, lambda one, two: _likeness(shingles[one.id], shingles[two.id])):
        message = f"is {alike:.0%} the issue of {other.id}; declare twins or rewrite one"
        yield Complaint(message, corpus.layout.issue(case.id), 1, case.id)


def titles_differ(corpus: Corpus) -> Iterator[Complaint]:
    """No two titles say the same in (nearly) the same words."""
    words = {case.id: frozenset(_words(case.title)) for case in corpus.cases.values()}
    for case, (_, other) in _closest(corpus, lambda one, two: _same_title(words[one.id], words[two.id])):
        message = f"has nearly the title of {other.id}: {other.title!r}; declare twins or rewrite one"
        yield Complaint(message, corpus.layout.issue(case.id), 1, case.id)


def _closest(corpus: Corpus, likeness: Callable[[Case, Case], float]) -> Iterator[tuple[Case, tuple[float, Case]]]:
    """Each case too like one before it (declared twins apart), and the one it is most like; 0 is no likeness."""
    found: dict[str, list[tuple[float, Case]]] = defaultdict(list)
    for one, other in combinations(corpus.cases.values(), 2):
        declared = one.labels.pair_id and one.labels.pair_id == other.labels.pair_id
        alike = 0.0 if declared else likeness(one, other)
        if alike:
            found[other.id].append((alike, one))
    for name, candidates in found.items():
        yield corpus.cases[name], max(candidates, key=lambda candidate: candidate[0])


def _likeness(mine: frozenset[int], theirs: frozenset[int]) -> float:
    """Jaccard similarity, or the share of the shorter that stands in the longer; 0 if both are below their limits."""
    shared = len(mine & theirs)
    alike = shared / max(1, len(mine) + len(theirs) - shared)
    inside = shared / max(1, min(len(mine), len(theirs)))
    return max(alike, inside) if alike >= NEAR or inside >= SWALLOWED else 0.0


def _same_title(mine: frozenset[str], theirs: frozenset[str]) -> float:
    alike = len(mine & theirs) / max(1, len(mine | theirs))
    return alike if alike >= NEAR_TITLE and min(len(mine), len(theirs)) >= LONG_ENOUGH else 0.0


def _shingles(case: Case) -> frozenset[int]:
    """Hashes of the word triples: numbers compare fast, and a huge log repeats itself anyway."""
    words = _words(f"{case.title} {case.body}")
    return frozenset(hash(tuple(words[start : start + SHINGLE])) for start in range(len(words) - SHINGLE + 1))


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
