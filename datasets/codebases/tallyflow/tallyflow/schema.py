"""What a row of a source looks like, and how it becomes a Reading."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from tallyflow.errors import RowError
from tallyflow.localtime import StampReader
from tallyflow.model import Reading

FIELDS = ("meter", "at", "value", "unit")


@dataclass(frozen=True)
class RowSchema:
    """Which column holds what. A source of a single meter or unit may name it once instead of in every row."""

    columns: Mapping[str, str] = field(default_factory=lambda: {name: name for name in FIELDS})
    meter: str | None = None
    unit: str | None = None
    decimal: str = "."
    missing: frozenset[str] = frozenset({"", "-", "n/a", "NaN"})

    def reading(self, row: Mapping[str, object], stamps: StampReader, origin: str) -> Reading | None:
        """The reading in a row; None where the logger had none to give. Raises RowError."""
        meter = self.meter or self._text(row, "meter")
        raw = self._text(row, "value")
        at = stamps.read(meter, self._text(row, "at"))
        if raw in self.missing:
            return None
        return Reading(meter, at, self._number(raw), self.unit or self._text(row, "unit"), origin)

    def _text(self, row: Mapping[str, object], name: str) -> str:
        column = self.columns.get(name, name)
        value = row.get(column)
        if value is None:
            raise RowError(f"column {column!r} is missing")
        return str(value).strip()

    def _number(self, raw: str) -> float:
        text = raw
        if self.decimal == ",":
            text = raw.replace(".", "").replace(",", ".")
        try:
            value = float(text)
        except ValueError:
            raise RowError(f"{raw!r} is not a number") from None
        if not math.isfinite(value):
            raise RowError(f"{raw!r} is not a finite number")
        return value
