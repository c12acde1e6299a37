"""Results of steps on disk, so that a second run computes only what has changed."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from tallyflow.errors import CheckpointError
from tallyflow.model import Flow, Quality, Reading, Row, Sample, Slot, Table

log = logging.getLogger(__name__)

FORMAT = 2


class CheckpointStore:
    """One JSON file per step, in `folder`; without a folder nothing is ever stored.

    A file holds the latest result only: its fingerprint tells whether that is the one asked for.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def has(self, step: str, fingerprint: str) -> bool:
        """Whether the result with this fingerprint is there; a damaged file is as good as none."""
        try:
            return self._document(step).get("fingerprint") == fingerprint
        except CheckpointError:
            return False

    def get(self, step: str, fingerprint: str) -> Table:
        """The stored result. Raises CheckpointError."""
        document = self._document(step)
        if document.get("fingerprint") != fingerprint:
            raise CheckpointError("its checkpoint belongs to another run")
        try:
            return {name: [_decoded(row) for row in rows] for name, rows in document["table"].items()}
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"its checkpoint is damaged: {error}") from error

    def put(self, step: str, fingerprint: str, table: Table) -> None:
        """Store a result in place of the one before; the file is replaced as a whole."""
        if self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        rows = {name: [_encoded(row) for row in rows] for name, rows in table.items()}
        document = {"format": FORMAT, "step": step, "fingerprint": fingerprint, "table": rows}
        path = self._path(step)
        scratch = path.with_suffix(".part")
        scratch.write_text(json.dumps(document), encoding="utf-8")
        scratch.replace(path)
        log.debug("step %s stored", step)

    def clear(self) -> int:
        """Forget everything; returns how many results there were."""
        files = sorted(self._folder.glob("*.json")) if self._folder else []
        for file in files:
            file.unlink()
        return len(files)

    def _path(self, step: str) -> Path:
        if self._folder is None:
            raise CheckpointError("there is no checkpoint folder")
        return self._folder / f"{step}.json"

    def _document(self, step: str) -> dict[str, Any]:
        try:
            document = json.loads(self._path(step).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise CheckpointError("it has no checkpoint") from None
        except (OSError, ValueError) as error:
            raise CheckpointError(f"its checkpoint is damaged: {error}") from error
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise CheckpointError("its checkpoint has another format")
        return document


def _encoded(row: Row) -> list[Any]:
    match row:
        case Reading(meter, at, value, unit, origin):
            return ["reading", meter, at.isoformat(), value, unit, origin]
        case Flow(start, end, amount):
            return ["flow", start.isoformat(), end.isoformat(), amount]
        case Sample(slot, value, quality):
            return ["sample", slot.start.isoformat(), slot.end.isoformat(), value, quality.value]


def _decoded(row: Sequence[Any]) -> Row:
    moment = datetime.fromisoformat
    match row:
        case ["reading", meter, at, value, unit, origin]:
            return Reading(meter, moment(at), value, unit, origin)
        case ["flow", start, end, amount]:
            return Flow(moment(start), moment(end), amount)
        case ["sample", start, end, value, quality]:
            return Sample(Slot(moment(start), moment(end)), value, Quality(quality))
    raise ValueError(f"unknown row {row!r}")
