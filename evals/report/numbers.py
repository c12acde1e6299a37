"""Numbers and untrusted text formatted for people."""

import json
import math
from typing import Final

from evals.models.run import Comparison, ScorerInfo, Summary, Unit
from evals.statistics.rates import format_rate

NOTHING: Final = "n/a"
MINUS: Final = "\N{MINUS SIGN}"
_DIGITS: Final[dict[Unit, int]] = {"tokens": 0, "count": 1, "seconds": 1, "USD": 4}
_SUFFIX: Final[dict[Unit, str]] = {"seconds": " s", "USD": " USD"}


def rate(summary: Summary) -> str:
    """A summary of a fraction in one cell: value, interval, and how many cases were scored."""
    if summary.mean is None:
        return f"{NOTHING} n=0/{summary.total}"
    known = f" [{percent(summary.low)}, {percent(summary.high)}]" if summary.low is not None else ""
    return f"{value(summary)}{known} n={summary.n}/{summary.total}{_bounds(summary)}"


def short_rate(summary: Summary) -> str:
    """A summary of a fraction for a narrow cell: value, and how many cases were scored where it is not all of them."""
    rests_on = f" n={summary.n}/{summary.total}" if summary.n < summary.total else ""
    return f"{value(summary)}{rests_on}"


def _bounds(summary: Summary) -> str:
    """What the mean would be with the unrecorded cases at their worst and best; nothing where none is."""
    if summary.pessimistic is None or summary.pessimistic == summary.optimistic:
        return ""
    return f" ({percent(summary.pessimistic)} to {percent(summary.optimistic)} with the rest)"


def value(summary: Summary) -> str:
    """The mean of a fraction; with its counts where every case is 0 or 1."""
    if summary.hits is not None:
        return f"{format_rate(summary.hits, summary.n, 0)} ({summary.hits}/{summary.n})"
    return percent(summary.mean)


def percent(share: float | None) -> str:
    """A fraction in per cent; 0 % and 100 % only where exactly true."""
    if share is None:
        return NOTHING
    if 0 < share <= 0.005:
        return "<1 %"
    if 0.995 <= share < 1:
        return ">99 %"
    return f"{share * 100:.0f} %"


def points(difference: float | None) -> str:
    """A difference of fractions in percentage points, signed; 0 only where exactly true."""
    if difference is None:
        return NOTHING
    if difference == 0:
        return "0"
    size = abs(difference) * 100
    return f"{'+' if difference > 0 else MINUS}{'<1' if size <= 0.5 else f'{size:.0f}'}"


def signed(number: float | None) -> str:
    """A number around nought, to two decimals; 0 only where exactly true."""
    if number is None:
        return NOTHING
    if number == 0:
        return "0"
    size = abs(number)
    return f"{'+' if number > 0 else MINUS}{'<0.01' if size < 0.005 else f'{size:.2f}'}"


def amount(summary: Summary, scorer: ScorerInfo) -> str:
    """A summary in its own unit, with the number of cases it is the mean of."""
    if scorer.unit == "fraction" or summary.mean is None:
        return rate(summary)
    return f"{measure(summary.mean, scorer.unit)} n={summary.n}/{summary.total}"


def measure(number: float, unit: Unit) -> str:
    """A single value in its unit; whole counts without decimals, and 0 only where exactly true."""
    if unit == "fraction":
        return percent(number)
    digits, smallest = _DIGITS[unit], 10 ** -_DIGITS[unit]
    if 0 < number < smallest / 2:
        return f"<{smallest:.{digits}f}{_SUFFIX.get(unit, '')}"
    return f"{number:,.{0 if number == int(number) else digits}f}{_SUFFIX.get(unit, '')}"


def probability(chance: float | None) -> str:
    """A p-value."""
    if chance is None:
        return NOTHING
    return "<0.001" if chance < 0.001 else f"{chance:.3f}"


def change(item: Comparison) -> str:
    """A difference in points, with what it would be had the unrecorded cases all been lost, and all gained."""
    if item.pessimistic is None or item.pessimistic == item.optimistic:
        return points(item.delta)
    return f"{points(item.delta)} ({points(item.pessimistic)} to {points(item.optimistic)} with the rest)"


def pairs(item: Comparison) -> str:
    """The cases a comparison rests on, of those it would with everything recorded; runs of schema 1 know only the
    first."""
    return f"{item.n}/{item.of}" if item.of else str(item.n)


def smallest_drop(item: Comparison) -> str:
    """What a comparison could have seen, in points, and the fewest lost cases that would have counted; "none" when no
    drop is large enough for so few cases."""
    if item.minimum_detectable is None:
        return "none"
    fewest = f" ({item.fewest_losses} losses)" if item.fewest_losses is not None else ""
    return f"{math.ceil(round(item.minimum_detectable * 100, 6))}{fewest}"


_ACTIVE: Final = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def script_json(value: object) -> str:
    """JSON that may stand inside a `<script>` element: no character of it can end the element or start another."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).translate(_ACTIVE)
