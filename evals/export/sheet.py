"""The folder a sweep or a self-test leaves behind: a page, and the same as JSON."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from evals.cassette.hold_back import held_back
from evals.export.folder import write_files
from evals.models.closed import Closed

Told = TypeVar("Told", bound=Closed)


def write_sheet(told: Told, page: Callable[[Told], str], folder: Path, name: str, tape: Path) -> Told:
    """Write `index.html` and `<name>.json`; returns what they tell: a text that no cassette in the folder `tape` may
    hold is withheld.

    Raises:
        ConfigurationError: the folder cannot be written.
    """
    fit = held_back(told, tape)
    stored = json.dumps(fit.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n"
    write_files(folder, {"index.html": page(fit), f"{name}.json": stored})
    return fit
