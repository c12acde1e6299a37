"""A pipeline in a temporary folder, and short ways to write moments and samples."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from tallyflow.checkpoints import CheckpointStore
from tallyflow.config import Config, parse
from tallyflow.graph import Graph
from tallyflow.model import Quality, Reading, Sample, Slot, Table

UTC = timezone.utc
BERLIN = ZoneInfo("Europe/Berlin")
MONDAY = datetime(2026, 3, 2, tzinfo=UTC)

CHAIN: dict[str, Any] = {
    "readings": {"kind": "read", "source": "gateway"},
    "amounts": {"kind": "difference", "inputs": ["readings"]},
    "hours": {"kind": "resample", "inputs": ["amounts"], "interval": "hour"},
    "whole": {"kind": "fill", "inputs": ["hours"], "max_gap": 3},
    "sites": {"kind": "total", "inputs": ["whole"], "interval": "day", "by": "site"},
}


class World:
    """A folder with source files and a configuration over it."""

    def __init__(
        self, steps: Mapping[str, Any] = CHAIN, environ: Mapping[str, str] | None = None, **meters: Any
    ) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.base = Path(self._folder.name)
        self.document: dict[str, Any] = {
            "tallyflow": {"timezone": "UTC", "checkpoints": "kept"},
            "meters": meters or {"E1": {"site": "north"}},
            "sources": {"gateway": {"path": "*.csv"}},
            "steps": dict(steps),
        }
        self.environ = environ or {}

    def close(self) -> None:
        self._folder.cleanup()

    def write(self, name: str, *rows: str) -> None:
        text = "\n".join(["meter;at;value;unit", *rows, ""])
        (self.base / name).write_text(text, encoding="utf-8")

    @property
    def config(self) -> Config:
        return parse(self.document, self.base, self.environ)

    def run(self) -> dict[str, Table]:
        config = self.config
        return Graph(config).run(CheckpointStore(config.checkpoints))


def at(hours: float) -> datetime:
    return MONDAY + timedelta(hours=hours)


def reading(hours: float, value: float, unit: str = "kWh", meter: str = "E1") -> Reading:
    return Reading(meter, at(hours), value, unit)


def samples(*values: float | None) -> list[Sample]:
    return [
        Sample(Slot(at(hour), at(hour + 1)), value, Quality.MISSING if value is None else Quality.MEASURED)
        for hour, value in enumerate(values)
    ]


def values(rows: Sequence[Sample]) -> list[float | None]:
    return [row.value for row in rows]


def scaled(table: Mapping[str, Sequence[Sample]], options: Mapping[str, float]) -> dict[str, list[Sample]]:
    """A plugin."""
    return {name: [replace(row, value=row.value * options["by"]) for row in rows] for name, rows in table.items()}
