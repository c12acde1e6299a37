"""Ranking metrics: hit@k, accuracy@k, MRR, average precision."""

from collections.abc import Sequence


def hit_at(ranked: Sequence[str], gold: frozenset[str], k: int) -> bool:
    """Whether any of the first `k` is right."""
    return not gold.isdisjoint(ranked[:k])


def all_at(ranked: Sequence[str], gold: frozenset[str], k: int) -> bool:
    """Whether everything that is right stands among the first `k`; never so when there is more of it than `k`."""
    return gold <= set(ranked[:k])


def filled_at(ranked: Sequence[str], gold: frozenset[str], k: int) -> bool:
    """Whether the first `k` hold as much that is right as `k` places can: min(|gold|, k) of it.

    The accuracy of LocAgent's published evaluation (Chen et al. 2025). It differs from `all_at` only where |gold| > k:
    there `k` right places are enough.
    """
    return len(gold.intersection(ranked[:k])) == min(len(gold), k)


def reciprocal_rank(ranked: Sequence[str], gold: frozenset[str]) -> float:
    """1 / rank of the first right one; 0 if there is none."""
    return next((1 / rank for rank, name in enumerate(ranked, 1) if name in gold), 0.0)


def average_precision(ranked: Sequence[str], gold: frozenset[str]) -> float:
    """The precision at each right one, summed and divided by |gold|: what is never named costs its whole share."""
    hits = [rank for rank, name in enumerate(ranked, 1) if name in gold]
    return sum(found / rank for found, rank in enumerate(hits, 1)) / len(gold)


def precision(named: Sequence[str], gold: frozenset[str]) -> float:
    """Share of what is named that is right; 0 if nothing is named."""
    return sum(name in gold for name in named) / len(named) if named else 0.0


def recall(named: Sequence[str], gold: frozenset[str]) -> float:
    """Share of what is right that is named."""
    return len(gold.intersection(named)) / len(gold)


def harmonic_mean(one: float, other: float) -> float:
    """F1 of a precision and a recall; 0 if both are."""
    return 2 * one * other / (one + other) if one + other else 0.0
