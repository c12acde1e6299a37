"""What people said of a case's trials, kept beside the cases: for whoever looks at its label, and for no scorer."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import yaml

from evals.dataset.located import read_model
from evals.models.closed import Closed

_HEAD: Final = "# What people said of trials of this case; `evals langsmith pull --queue` adds to it, drops nothing.\n"


class Note(Closed):
    """One piece of feedback. `id` is its own there, `run` that of the run it is about; `at` is when it last changed
    (ISO, UTC)."""

    id: str
    at: str
    queue: str
    run: str
    variant: str = ""
    key: str
    score: float | bool | None = None
    value: Any = None
    comment: str = ""
    correction: Any = None


class Notes(Closed):
    """The file of one case, oldest first."""

    notes: tuple[Note, ...] = ()


def read_notes(path: Path) -> tuple[Note, ...]:
    """What is there; nothing where there is no file. Raises DatasetError (`path:line: …`)."""
    return read_model(path, Notes).notes if path.exists() else ()


def add_notes(path: Path, found: Iterable[Note]) -> int:
    """Add what is new, put what has changed in place of what it was, keep the rest; returns how many those were.

    Raises:
        DatasetError: the file there cannot be read; it is left as it is.
    """
    there = {note.id: note for note in read_notes(path)}
    new = {note.id: note for note in found if there.get(note.id) != note}
    if new:
        notes = sorted({**there, **new}.values(), key=lambda note: (note.at, note.id))
        told = Notes(notes=tuple(notes)).model_dump(mode="json", exclude_defaults=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_name(f".{path.name}.tmp")
        scratch.write_text(_HEAD + yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=120), "utf-8")
        scratch.replace(path)
    return len(new)
