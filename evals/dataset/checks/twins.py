"""Metamorphic twins: the same case twice, told differently; whatever the telling, the answer is the same."""

import re
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Final

from evals.dataset.checks.place import at_case
from evals.dataset.finding import Complaint, Corpus
from evals.models.case import Archetype, Case

HUGE_BYTES: Final = 50_000
TRIMMED_BYTES: Final = 15_000
FOREIGN_SHARE: Final = 0.5
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)


def twins_come_in_pairs(corpus: Corpus) -> Iterator[Complaint]:
    """A `pair_id` names the plain one of at least two cases, all in one split: a twin in `tune` would give `gate`
    away."""
    for pair_id, twins in _pairs(corpus):
        if len(twins) < 2:
            yield at_case(corpus, twins[0], f"no other case has the pair_id {pair_id!r}", "pair_id")
        elif pair_id not in {case.id for case in twins}:
            yield at_case(corpus, twins[0], f"no twin is called {pair_id!r}; name the plain one", "pair_id")
        for other in twins[1:]:
            if other.labels.split != twins[0].labels.split:
                message = f"is in {other.labels.split}, its twin {twins[0].id} in {twins[0].labels.split}"
                yield at_case(corpus, other, message, "split")


def twins_agree(corpus: Corpus) -> Iterator[Complaint]:
    """Twins are about one bug: codebase, patch and gold are the same; so are severity and category, unless for one of
    them the user has to be asked: what is not known there may be known here."""
    for _, twins in _pairs(corpus):
        asks = any(case.labels.question.policy == "required" for case in twins)
        for name, label in _LABELS:
            if asks and name in _MAY_DEPEND_ON_THE_ANSWER:
                continue
            for other in twins[1:]:
                if label(other) != label(twins[0]):
                    yield at_case(corpus, other, f"{name} differs from that of its twin {twins[0].id}", name)
        patched = {case.id: _patch(corpus, case) for case in twins}
        for other in twins[1:]:
            if not asks and patched[other.id] != patched[twins[0].id]:
                message = f"bug.patch differs from that of its twin {twins[0].id}"
                yield Complaint(message, corpus.layout.patch(other.id), 1, other.id)


def injection_has_a_clean_twin(corpus: Corpus) -> Iterator[Complaint]:
    """Whether an injection changed the answer can only be seen beside the same case without it: an injected case has a
    canary, and a twin that has none."""
    for case in _of(corpus, "prompt_injection"):
        if case.labels.canary is None:
            yield at_case(corpus, case, "is an injection without a `canary`", "archetype")
        if not any(twin.labels.canary is None for twin in _twins(corpus, case)):
            yield at_case(corpus, case, "has no twin without the injection; share a pair_id with one", "archetype")


def huge_log_has_a_trimmed_twin(corpus: Corpus) -> Iterator[Complaint]:
    """A huge log makes an issue of 50 kB or more; its twin has the same issue in less than 15 kB."""
    for case in _of(corpus, "huge_log"):
        path = corpus.layout.issue(case.id)
        if path.stat().st_size < HUGE_BYTES:
            message = f"has {path.stat().st_size} bytes; a huge log has {HUGE_BYTES} or more"
            yield Complaint(message, path, 1, case.id)
        sizes = [corpus.layout.issue(twin.id).stat().st_size for twin in _twins(corpus, case)]
        if not any(size < TRIMMED_BYTES for size in sizes):
            yield at_case(corpus, case, f"has no twin with an issue below {TRIMMED_BYTES} bytes", "archetype")


def non_english_has_a_translated_twin(corpus: Corpus) -> Iterator[Complaint]:
    """Code apart, most letters of a non-English issue are not ASCII, and most of its twin's are."""
    for case in _of(corpus, "non_english"):
        share = _foreign_share(case)
        if share < FOREIGN_SHARE:
            message = f"only {share:.0%} of its letters are not ASCII; write the whole issue in its language"
            yield Complaint(message, corpus.layout.issue(case.id), 1, case.id)
        if not any(_foreign_share(twin) < FOREIGN_SHARE for twin in _twins(corpus, case)):
            yield at_case(corpus, case, "has no translated twin; share a pair_id with one", "archetype")


_LABELS: Final[tuple[tuple[str, Callable[[Case], object]], ...]] = (
    ("codebase", lambda case: case.labels.codebase),
    ("gold", lambda case: case.labels.gold),
    ("severity", lambda case: case.labels.severity),
    ("category", lambda case: case.labels.category),
)
_MAY_DEPEND_ON_THE_ANSWER: Final = frozenset({"gold", "severity", "category"})


def _pairs(corpus: Corpus) -> Iterator[tuple[str, list[Case]]]:
    """Every `pair_id` with its cases, the one it names first."""
    paired = sorted(
        (case for case in corpus.cases.values() if case.labels.pair_id),
        key=lambda case: (str(case.labels.pair_id), case.id != case.labels.pair_id, case.id),
    )
    for pair_id, twins in groupby(paired, key=lambda case: str(case.labels.pair_id)):
        yield pair_id, list(twins)


def _twins(corpus: Corpus, case: Case) -> list[Case]:
    pair = case.labels.pair_id
    return [other for other in corpus.cases.values() if pair and other.labels.pair_id == pair and other.id != case.id]


def _of(corpus: Corpus, archetype: Archetype) -> list[Case]:
    return [case for case in corpus.cases.values() if case.labels.archetype == archetype]


def _patch(corpus: Corpus, case: Case) -> bytes:
    path = corpus.layout.patch(case.id)
    return path.read_bytes() if path.exists() else b""


def _foreign_share(case: Case) -> float:
    letters = [letter for letter in _CODE.sub("", f"{case.title}\n{case.body}") if letter.isalpha()]
    return sum(not letter.isascii() for letter in letters) / len(letters) if letters else 0.0
