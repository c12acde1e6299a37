"""What only the whole dataset can show: empty or lopsided slices, and a router that needs no brain."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, get_args

from evals.dataset.baselines import MAX_SHARE_OF_CASES, route_baselines
from evals.dataset.checks.place import of_the_dataset
from evals.dataset.finding import Complaint, Corpus
from evals.dataset.kinds import MAX_SHARE_OF_KINDS, kind_baselines
from evals.models.case import Archetype, DecisionPoint, Split
from evals.models.route import Choice

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
CHOICES: Final[tuple[Choice, ...]] = get_args(Choice)


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
