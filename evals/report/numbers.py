"""Numbers as people read them, never without what they rest on: the same words in terminal, Markdown and HTML."""

from evals.models.run import Comparison, ScorerInfo, Summary
from evals.stats.intervals import format_rate

NOTHING = "n/a"


def rate(summary: Summary) -> str:
    """A summary of a fraction in one cell: value, interval, and how many cases were scored."""
    if summary.mean is None:
        return f"{NOTHING} (0 of {summary.total} cases)"
    interval = f" [{percent(summary.low)}, {percent(summary.high)}]" if summary.low is not None else ""
    return f"{_mean(summary)}{interval} n={summary.n}"


def _mean(summary: Summary) -> str:
    if summary.hits is not None:
        return f"{format_rate(summary.hits, summary.n, 0)} ({summary.hits}/{summary.n})"
    return percent(summary.mean)


def percent(value: float | None) -> str:
    """A fraction in per cent; 0 % and 100 % only where exactly true."""
    if value is None:
        return NOTHING
    if 0 < value < 0.005:
        return "<1 %"
    if 0.995 <= value < 1:
        return ">99 %"
    return f"{value * 100:.0f} %"


def points(value: float | None) -> str:
    """A difference of fractions in percentage points, signed."""
    return NOTHING if value is None else f"{value * 100:+.0f}"


def amount(summary: Summary, scorer: ScorerInfo) -> str:
    """A summary in its own unit."""
    if summary.mean is None:
        return NOTHING
    if scorer.unit == "fraction":
        return rate(summary)
    digits = 0 if scorer.unit == "tokens" else 1
    return f"{summary.mean:,.{digits}f}"


def probability(value: float | None) -> str:
    """A p-value."""
    if value is None:
        return NOTHING
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def smallest_drop(item: Comparison) -> str:
    """What a comparison could have seen, in points; "none" when no drop is large enough for so few cases."""
    return "none" if item.minimum_detectable is None else f"{item.minimum_detectable * 100:.0f}"
