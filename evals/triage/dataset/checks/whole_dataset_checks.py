"""Checks of the whole dataset (balance, near-duplicate issues, metamorphic pairs), and counts of cases by kind."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, groupby
from typing import Final, get_args

from evals.models.base import Closed
from evals.models.case import Case, Choice, DecisionPoint, Split
from evals.triage.dataset.checks.text_checks import at_case, of_the_dataset
from evals.triage.dataset.dataset_layout import Archetype
from evals.triage.dataset.floor_scores import MAX_SHARE_OF_CASES, MAX_SHARE_OF_KINDS, kind_baselines, route_baselines
from evals.triage.dataset.lint_types import Complaint, Corpus
from evals.triage.nodes import CHOICES

SHARES: Final[Mapping[Split, float]] = {"tune": 0.50, "gate": 0.35, "holdout": 0.15}
TOLERANCE: Final = 0.10
TOLERANCE_CASES: Final = 1.5  # a small dataset cannot be cut finer
SPREAD_FROM: Final = 3  # clusters; with two, one of them may well lie in the holdout
MIN_POINTS: Final = 10  # per node: below, one answer moves a node's mean by more than ten points
MIN_CASES: Final = 10
LIMITS: Final[Mapping[str, float]] = {
    "constant route": MAX_SHARE_OF_CASES,
    "constant route, unsure": MAX_SHARE_OF_CASES,
    "two branches": MAX_SHARE_OF_CASES,
    "constant route, by kind of way": MAX_SHARE_OF_KINDS,
    "two branches, by kind of way": MAX_SHARE_OF_KINDS,
}
ARCHETYPES: Final[tuple[Archetype, ...]] = get_args(Archetype)


def splits_are_filled(corpus: Corpus) -> Iterator[Complaint]:
    """Thresholds are chosen on `tune` and confirmed on `gate`: neither may be empty."""
    counts = Counter(case.labels.split for case in corpus.cases.values())
    for split in ("tune", "gate"):
        if corpus.cases and not counts[split]:
            yield of_the_dataset(corpus, f"no case is in the split `{split}`")


def splits_keep_their_shares(corpus: Corpus) -> Iterator[Complaint]:
    """Half of the cases to tune on, 35 % to judge by, 15 % never looked at; ten points (or one and a half cases, where
    that is more) to either side."""
    total = len(corpus.cases)
    counts = Counter(case.labels.split for case in corpus.cases.values())
    for split, share in SHARES.items():
        if abs(counts[split] - share * total) > max(TOLERANCE * total, TOLERANCE_CASES):
            message = f"{counts[split]} of {total} cases are in `{split}`; it should be about {share * total:.0f}"
            yield of_the_dataset(corpus, message)


def archetypes_are_spread(corpus: Corpus) -> Iterator[Complaint]:
    """An archetype of three clusters or more stands in `tune` and in `gate`, and none only in the holdout: what is
    confirmed must have been seen, and what is seen must be confirmed."""
    splits: dict[Archetype, set[Split]] = defaultdict(set)
    clusters: dict[Archetype, set[str]] = defaultdict(set)
    for case in corpus.cases.values():
        splits[case.labels.archetype].add(case.labels.split)
        clusters[case.labels.archetype].add(case.cluster)
    for archetype in sorted(splits):
        if splits[archetype] == {"holdout"}:
            yield of_the_dataset(corpus, f"{archetype} is in the holdout only; move a case")
        elif len(clusters[archetype]) >= SPREAD_FROM:
            for missing in sorted({"tune", "gate"} - splits[archetype]):
                message = f"{archetype} has {len(clusters[archetype])} clusters and none in `{missing}`; move one"
                yield of_the_dataset(corpus, message)


def archetypes_are_covered(corpus: Corpus) -> Iterator[Complaint]:
    """As soon as there are two cases for each archetype there is, none may be missing."""
    if len(corpus.cases) < 2 * len(ARCHETYPES):
        return
    for archetype in sorted(set(ARCHETYPES) - {case.labels.archetype for case in corpus.cases.values()}):
        yield of_the_dataset(corpus, f"no case is a {archetype}; the dataset is large enough for one of each")


def points_are_spread(corpus: Corpus) -> Iterator[Complaint]:
    """`decision_score` weighs all nodes alike, so it is as shaky as its rarest node. As soon as there are ten decision
    points for each node, every node is the best answer of at least ten."""
    points = [point for case in corpus.cases.values() for point in case.labels.decision_points]
    if len(points) < MIN_POINTS * len(CHOICES):
        return
    counts = Counter(choice for point in points for choice in best_of(point))
    for choice in CHOICES:
        if counts[choice] < MIN_POINTS:
            message = f"{choice} is the best answer of {counts[choice]} decision points; {MIN_POINTS} are needed"
            yield of_the_dataset(corpus, message)


def brainless_routers_fail(corpus: Corpus) -> Iterator[Complaint]:
    """Neither one fixed route nor one per level of confidence passes more than two thirds of the cases, or half of the
    kinds of way there are; else routing well proves nothing. With fewer than ten cases any route's share is luck."""
    if len(corpus.cases) < MIN_CASES:
        return
    cases = list(corpus.cases.values())
    for found in (*route_baselines(cases, corpus.cache), *kind_baselines(cases, corpus.cache)):
        limit = LIMITS.get(found.name, 1.0)
        if found.share > limit:
            message = f"{found.name} ({found.detail}) passes {found.share:.0%}, {limit:.0%} is allowed; vary the cases"
            yield of_the_dataset(corpus, message)


def best_of(point: DecisionPoint) -> list[Choice]:
    """The nodes with the highest grade, more than one where they are equally right."""
    top = max(point.accept.values())
    return [choice for choice, grade in point.accept.items() if grade == top]


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


IMPORTED: Final = "(imported)"
UNLABELLED: Final = "(unlabelled)"
SPLITS: Final[tuple[Split, ...]] = get_args(Split)


def origin_of_code(case: Case) -> str:
    """Whose code the case is about."""
    if case.tree is not None:
        return "released package"
    if case.labels.codebase is None:
        return IMPORTED
    return "written here" if case.labels.ours else "a live job's"


SLICES: Final[Mapping[str, Callable[[Case], str]]] = {
    "code": origin_of_code,
    "codebase": lambda case: case.labels.codebase or (case.repository if case.labels.base_commit else IMPORTED),
    "category": lambda case: _stated(case, "category", case.labels.category),
    "severity": lambda case: _stated(case, "severity", case.labels.severity),
    "question": lambda case: _stated(case, "question", case.labels.question.policy),
}
TOLD_DIFFERENTLY: Final[frozenset[Archetype]] = frozenset({"prompt_injection", "huge_log", "non_english"})


class Census(Closed):
    """Counts of cases; `clusters` counts twins once, `best_answers` decision points by the node graded highest.

    A label that an imported case's source does not state is counted as such, not as the default that stands there.
    """

    cases: int
    clusters: int
    decision_points: int
    archetypes: dict[str, dict[Split, int]]
    slices: dict[str, dict[str, int]]
    twins: dict[str, int]
    best_answers: dict[Choice, int]

    @property
    def splits(self) -> dict[Split, int]:
        """Cases per split."""
        return {split: sum(row[split] for row in self.archetypes.values()) for split in SPLITS}


def census(cases: Iterable[Case]) -> Census:
    """Count the cases; rows in alphabetical order, archetypes without a case included."""
    cases = list(cases)
    points = [point for case in cases for point in case.labels.decision_points]
    best = Counter(choice for point in points for choice in best_of(point))
    return Census(
        cases=len(cases),
        clusters=len({case.cluster for case in cases}),
        decision_points=len(points),
        archetypes={archetype: _by_split(cases, archetype) for archetype in _rows(cases)},
        slices={name: dict(sorted(Counter(map(slice_of, cases)).items())) for name, slice_of in SLICES.items()},
        twins=dict(sorted(Counter(_kind(twins) for twins in _counted_pairs(cases)).items())),
        best_answers={choice: best[choice] for choice in CHOICES},
    )


def _rows(cases: Sequence[Case]) -> list[str]:
    return sorted({*get_args(Archetype), *map(_archetype, cases)})


def _archetype(case: Case) -> str:
    return _stated(case, "archetype", case.labels.archetype)


def _stated(case: Case, name: str, label: str) -> str:
    return UNLABELLED if name in case.labels.unlabelled else label


def _by_split(cases: Sequence[Case], archetype: str) -> dict[Split, int]:
    counts = Counter(case.labels.split for case in cases if _archetype(case) == archetype)
    return {split: counts[split] for split in SPLITS}


def _counted_pairs(cases: Sequence[Case]) -> list[list[Case]]:
    paired = sorted((case for case in cases if case.labels.pair_id), key=lambda case: str(case.labels.pair_id))
    return [list(twins) for _, twins in groupby(paired, key=lambda case: case.labels.pair_id)]


def _kind(twins: Sequence[Case]) -> str:
    """What one twin has and the other has not."""
    told: list[str] = sorted({case.labels.archetype for case in twins} & TOLD_DIFFERENTLY)
    if told:
        return told[0]
    return "missing fact" if len({case.labels.question.policy for case in twins}) > 1 else "other"
