"""Counters and durations of this process, rendered as plain text for a scraper."""

import threading
from bisect import bisect_left
from dataclasses import dataclass, field

_BOUNDS = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0)

_Labels = tuple[tuple[str, str], ...]


@dataclass
class Histogram:
    """How many observations fell at or below each bound, in seconds."""

    buckets: list[int] = field(default_factory=lambda: [0] * (len(_BOUNDS) + 1))
    total: float = 0.0

    def observe(self, seconds: float) -> None:
        self.buckets[bisect_left(_BOUNDS, seconds)] += 1
        self.total += seconds

    @property
    def count(self) -> int:
        """Number of observations."""
        return sum(self.buckets)

    def quantile(self, q: float) -> float | None:
        """Upper bound of the bucket that holds the q-quantile; None when empty or beyond the last bound."""
        target, seen = q * self.count, 0
        for index, n in enumerate(self.buckets[:-1]):
            seen += n
            if n and seen >= target:
                return _BOUNDS[index]
        return None


class Metrics:
    """All series of a process; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: dict[tuple[str, _Labels], int] = {}
        self._histograms: dict[tuple[str, _Labels], Histogram] = {}

    def count(self, name: str, n: int = 1, **labels: str) -> None:
        """Add `n` to a counter."""
        key = (name, tuple(sorted(labels.items())))
        with self._lock:
            self._counters[key] = self._counters.get(key, 0) + n

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        """Add a duration to a histogram."""
        key = (name, tuple(sorted(labels.items())))
        with self._lock:
            self._histograms.setdefault(key, Histogram()).observe(seconds)

    def value(self, name: str, **labels: str) -> int:
        """Current value of a counter."""
        return self._counters.get((name, tuple(sorted(labels.items()))), 0)

    def histogram(self, name: str, **labels: str) -> Histogram:
        """A histogram, empty if nothing was observed."""
        return self._histograms.get((name, tuple(sorted(labels.items()))), Histogram())

    def render(self) -> str:
        """One line per series, sorted."""
        with self._lock:
            lines = [f"taskmill_{name}{_braces(labels)} {n}" for (name, labels), n in self._counters.items()]
            for (name, labels), histogram in self._histograms.items():
                lines.append(f"taskmill_{name}_count{_braces(labels)} {histogram.count}")
                lines.append(f"taskmill_{name}_sum{_braces(labels)} {histogram.total:.6f}")
        return "".join(f"{line}\n" for line in sorted(lines))


def _braces(labels: _Labels) -> str:
    return "{" + ",".join(f'{key}="{value}"' for key, value in labels) + "}" if labels else ""
