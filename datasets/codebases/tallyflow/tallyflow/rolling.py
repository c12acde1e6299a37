"""Sums and statistics that do not lose small values among large ones."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable


class CompensatedSum:
    """A running sum that keeps what rounding would drop (Neumaier's variant of Kahan's method)."""

    __slots__ = ("_lost", "_total", "count")

    def __init__(self, values: Iterable[float] = ()) -> None:
        self._total = 0.0
        self._lost = 0.0
        self.count = 0
        for value in values:
            self.add(value)

    def add(self, value: float) -> None:
        """Put one value in."""
        total = self._total + value
        if abs(self._total) >= abs(value):
            self._lost += (self._total - total) + value
        else:
            self._lost += (value - total) + self._total
        self._total = total
        self.count += 1

    @property
    def value(self) -> float:
        """The sum of all values so far."""
        return self._total + self._lost


class RollingStats:
    """Mean and spread of the last `size` values."""

    def __init__(self, size: int) -> None:
        if size < 2:
            raise ValueError("a window holds at least two values")
        self._values: deque[float] = deque(maxlen=size)

    def __len__(self) -> int:
        return len(self._values)

    def push(self, value: float) -> None:
        """Add a value; the oldest leaves a full window."""
        self._values.append(value)

    @property
    def mean(self) -> float:
        """The arithmetic mean; 0 for an empty window."""
        return math.fsum(self._values) / len(self._values) if self._values else 0.0

    @property
    def deviation(self) -> float:
        """The sample standard deviation; 0 for fewer than two values."""
        if len(self._values) < 2:
            return 0.0
        mean = self.mean
        return math.sqrt(math.fsum((value - mean) ** 2 for value in self._values) / (len(self._values) - 1))
