"""How far a route is from a specification's exemplars. Diagnostics only: no exemplar is the one right way."""

from collections.abc import Sequence


def lcs_length(left: Sequence[str], right: Sequence[str]) -> int:
    """Length of the longest common subsequence, O(len(left) * len(right))."""
    row = [0] * (len(right) + 1)
    for node in left:
        previous = row
        row = [0]
        for place, other in enumerate(right):
            row.append(previous[place] + 1 if node == other else max(previous[place + 1], row[place]))
    return row[-1]


def similarity(route: Sequence[str], exemplar: Sequence[str]) -> float:
    """`2·LCS / (|route| + |exemplar|)`, 0 to 1; two empty routes are alike."""
    total = len(route) + len(exemplar)
    return 2 * lcs_length(route, exemplar) / total if total else 1.0


def nearest_exemplar(route: Sequence[str], exemplars: Sequence[Sequence[str]]) -> Sequence[str] | None:
    """The exemplar most similar to the route, the first of equals; None if there is none."""
    return max(exemplars, key=lambda exemplar: similarity(route, exemplar), default=None)


def first_divergence(route: Sequence[str], exemplars: Sequence[Sequence[str]]) -> int | None:
    """Index of the first visit that leaves the nearest exemplar (its end counts); None if it is followed throughout."""
    nearest = nearest_exemplar(route, exemplars)
    if nearest is None or list(route) == list(nearest):
        return None
    shared = zip(route, nearest, strict=False)
    return next((i for i, (node, wanted) in enumerate(shared) if node != wanted), min(len(route), len(nearest)))
