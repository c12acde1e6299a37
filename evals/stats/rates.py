"""Rates in words that never flatter. Not beside the intervals: a report needs words only, and scipy is slow to load."""

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
