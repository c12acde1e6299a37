"""Counters and gauges, kept in process and rendered as text."""

from __future__ import annotations

import threading
from collections.abc import Mapping

Series = tuple[str, tuple[tuple[str, str], ...]]


class Metrics:
    """Numbers under a name and labels. Safe to use from several threads."""

    def __init__(self) -> None:
        self._values: dict[Series, float] = {}
        self._lock = threading.Lock()

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        """Add to a counter."""
        series = _series(name, labels)
        with self._lock:
            self._values[series] = self._values.get(series, 0) + amount

    def gauge(self, name: str, value: float, **labels: str) -> None:
        """Set a gauge."""
        with self._lock:
            self._values[_series(name, labels)] = value

    def value(self, name: str, **labels: str) -> float:
        """The current number; zero for what was never touched."""
        with self._lock:
            return self._values.get(_series(name, labels), 0)

    def total(self, name: str) -> float:
        """The sum over all labels of a name."""
        with self._lock:
            return sum(value for (series, _), value in self._values.items() if series == name)

    def render(self) -> str:
        """One line per series, sorted: `coldshelf_name{label="value"} 3`."""
        with self._lock:
            rows = sorted(self._values.items())
        return "".join(f"coldshelf_{name}{_labels(labels)} {value:g}\n" for (name, labels), value in rows)


def _series(name: str, labels: Mapping[str, str]) -> Series:
    return name, tuple(sorted(labels.items()))


def _labels(labels: tuple[tuple[str, str], ...]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels) + "}"
