"""What only the whole dataset can show: twins, near-duplicates, empty splits, and a router that needs no brain."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Final

from evals.dataset.baselines import best_constant_route
from evals.dataset.finding import Complaint, Corpus
from evals.dataset.located import line_of
from evals.models.case import Case

SHINGLE: Final = 3  # words
NEAR: Final = 0.5  # Jaccard similarity of the shingle sets from which two issues count as one
MAX_CONSTANT_SHARE: Final = 0.5


def twins_come_in_pairs(corpus: Corpus) -> Iterator[Complaint]:
    """A `pair_id` is shared by at least two cases, all in one split: a twin in `tune` would give `gate` away."""
    for pair_id in sorted({case.labels.pair_id for case in corpus.cases.values() if case.labels.pair_id}):
        twins = [case for case in corpus.cases.values() if case.labels.pair_id == pair_id]
        if len(twins) < 2:
            yield _about(corpus, twins[0], "pair_id", f"no other case has the pair_id {pair_id!r}")
        if len({case.labels.split for case in twins}) > 1:
            yield _about(corpus, twins[0], "split", f"the twins of {pair_id!r} are in different splits")


def near_duplicates(corpus: Corpus) -> Iterator[Complaint]:
    """No two issues say the same in the same words, save declared twins."""
    shingles = {case.id: _shingles(case) for case in corpus.cases.values()}
    for one, other in combinations(corpus.cases.values(), 2):
        if one.labels.pair_id and one.labels.pair_id == other.labels.pair_id:
            continue
        alike = _jaccard(shingles[one.id], shingles[other.id])
        if alike >= NEAR:
            path = corpus.layout.issue(one.id)
            yield Complaint(f"is {alike:.0%} the issue of {other.id}; declare twins or rewrite one", path, 1, one.id)


def web_pages_exist(corpus: Corpus) -> Iterator[Complaint]:
    """Every page a case names stands in the offline web."""
    for case in corpus.cases.values():
        for page in case.labels.web:
            if not (corpus.layout.web / f"{page}.md").is_file():
                yield _about(corpus, case, "web", f"there is no page {page!r} in the offline web")


def splits_are_filled(corpus: Corpus) -> Iterator[Complaint]:
    """Thresholds are chosen on `tune` and confirmed on `gate`: neither may be empty."""
    counts = Counter(case.labels.split for case in corpus.cases.values())
    for split in ("tune", "gate"):
        if corpus.cases and not counts[split]:
            yield Complaint(f"no case is in the split `{split}`", corpus.layout.cases, 1, "(all)")


def constant_route_fails_half(corpus: Corpus) -> Iterator[Complaint]:
    """No single fixed route passes more than half of the cases; else routing well proves nothing."""
    if len(corpus.cases) < 2:
        return
    route, passed = best_constant_route(corpus.cases.values())
    if passed.hits > MAX_CONSTANT_SHARE * passed.cases:
        message = f"always going {' → '.join(route)} passes {passed.hits} of {passed.cases} cases; vary them"
        yield Complaint(message, corpus.layout.cases, 1, "(all)")


def _about(corpus: Corpus, case: Case, key: str, message: str) -> Complaint:
    path = corpus.layout.labels(case.id)
    return Complaint(message, path, line_of(path, key), case.id)


def _shingles(case: Case) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", f"{case.title} {case.body}".casefold())
    return {tuple(words[start : start + SHINGLE]) for start in range(max(1, len(words) - SHINGLE + 1))}


def _jaccard(one: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> float:
    return len(one & other) / len(one | other)
