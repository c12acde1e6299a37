"""Several samples of one case: how often all of k would pass."""

from collections.abc import Iterable
from math import comb


def pass_hat_k(successes: int, samples: int, k: int) -> float | None:
    """Unbiased chance that k samples of a case all pass: C(successes, k) / C(samples, k) (Yao et al. 2024, tau-bench).

    None if fewer than k samples were taken.
    """
    return comb(successes, k) / comb(samples, k) if 0 < k <= samples else None


def mean_pass_hat_k(counts: Iterable[tuple[int, int]], k: int) -> float | None:
    """Mean over cases, each (successes, samples); None if there is no case, or one has fewer than k samples."""
    values = [pass_hat_k(successes, samples, k) for successes, samples in counts]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None
