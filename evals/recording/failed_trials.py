"""Why trials could not be recorded: kept below the caches until they are, for the runs that miss their answers."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from evals import atomic_files

FILE: Final = "recording/failed.json"


def failed_trials(cache: Path) -> Mapping[tuple[str, str], str]:
    """(case, variant) -> why its last recording failed."""
    try:
        found = json.loads(atomic_files.read(cache / FILE) or b"[]")
        return {(case, variant): why for case, variant, why in found}
    except (ValueError, TypeError):  # a cache
        return {}


def keep_failure(cache: Path, case: str, variant: str, why: str) -> None:
    """Remember why; an empty text: it is recorded now."""
    from evals.secrets.secret_filter import scrub  # noqa: PLC0415 - a run, which only reads, has no use for it

    why = scrub(why)
    before = failed_trials(cache)
    if before.get((case, variant), "") == why:
        return
    with atomic_files.writing(cache / FILE):
        found = {**failed_trials(cache), (case, variant): why}
        kept = [[*name, text] for name, text in sorted(found.items()) if text]
        atomic_files.replace(cache / FILE, json.dumps(kept), synced=False)
