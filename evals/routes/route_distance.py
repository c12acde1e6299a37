"""Distance of a route from the exemplars of its specification (diagnostic only)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

Supersteps = Sequence[int] | None
"""One number per visit, never falling; equal numbers ran side by side. None: one visit after the other."""


def lcs_length(left: Sequence[str], right: Sequence[str], supersteps: Supersteps = None) -> int:
    """Length of the longest common subsequence, O(len(left) * len(right)); `supersteps` are those of `left`."""
    row = [0] * (len(right) + 1)
    for group in _side_by_side(left, supersteps):
        row = _after_one(row, group[0], right) if len(group) == 1 else _after_many(row, group, right)
    return row[-1]


def similarity(route: Sequence[str], exemplar: Sequence[str], supersteps: Supersteps = None) -> float:
    """`2·LCS / (|route| + |exemplar|)`, 0 to 1; two empty routes are alike."""
    total = len(route) + len(exemplar)
    return 2 * lcs_length(route, exemplar, supersteps) / total if total else 1.0


def nearest_exemplar(
    route: Sequence[str], exemplars: Sequence[Sequence[str]], supersteps: Supersteps = None
) -> Sequence[str] | None:
    """The exemplar most similar to the route, the first of equals; None if there is none."""
    return max(exemplars, key=lambda exemplar: similarity(route, exemplar, supersteps), default=None)


def first_divergence(
    route: Sequence[str], exemplars: Sequence[Sequence[str]], supersteps: Supersteps = None
) -> int | None:
    """Index of the first visit that leaves the nearest exemplar (its end counts); None if it is followed throughout.

    Of visits side by side, as many follow the exemplar as can; the first listed of the others leaves it.
    """
    nearest = nearest_exemplar(route, exemplars, supersteps)
    if nearest is None:
        return None
    start = 0
    for group in _side_by_side(route, supersteps):
        left = list(range(start, start + len(group)))
        for wanted in nearest[start : start + len(group)]:
            follower = next((i for i in left if route[i] == wanted), None)
            if follower is None:
                break
            left.remove(follower)
        if left:
            return left[0]
        start += len(group)
    return start if start < len(nearest) else None


def _side_by_side(route: Sequence[str], supersteps: Supersteps) -> Iterator[Sequence[str]]:
    if supersteps is None:
        yield from ((node,) for node in route)
        return
    for _, group in groupby(zip(supersteps, route, strict=True), key=lambda pair: pair[0]):
        yield [node for _, node in group]


def _after_one(row: Sequence[int], node: str, right: Sequence[str]) -> list[int]:
    """The lengths with every beginning of `right`, one visit further."""
    new = [0]
    for place, other in enumerate(right):
        new.append(row[place] + 1 if node == other else max(row[place + 1], new[place]))
    return new


def _after_many(row: Sequence[int], group: Sequence[str], right: Sequence[str]) -> list[int]:
    """The same for visits without an order: against a stretch of `right` they share what both hold, counted."""
    held = Counter(group)
    return [
        max(row[start] + (held & Counter(right[start:end])).total() for start in range(end + 1))
        for end in range(len(right) + 1)
    ]
