"""Rates in words, skill over a floor, and pass^k."""

from collections.abc import Iterable
from math import comb
from typing import Final

NOT_AVAILABLE: Final = "n/a"


def format_rate(successes: int, trials: int, digits: int = 1) -> str:
    """A rate in per cent; `0 %` and `100 %` only where exactly true, `n/a` for an empty sample."""
    if not trials:
        return NOT_AVAILABLE
    if successes in (0, trials):
        return "100 %" if successes else "0 %"
    smallest = 10.0**-digits
    return f"{min(max(100 * successes / trials, smallest), 100 - smallest):.{digits}f} %"


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


def skill(score: float, baseline: float) -> float | None:
    """(s - b) / (1 - b): 0 is no better than the baseline, 1 perfect; None where the baseline leaves nothing to win.

    The skill score of forecast verification, with 1 as the perfect score.
    """
    return (score - baseline) / (1 - baseline) if baseline < 1 else None
