"""Why trials could not be recorded: kept below the caches until they are, for the runs that miss their answers."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from evals import atomic_files
from evals.errors import RecordingError, RecordingStoppedError, UnansweredError

FILE: Final = "recording/failed.json"


def failed_trials(cache: Path) -> Mapping[tuple[str, str], str]:
    """(case, variant) -> why its last recording failed."""
    try:
        found = json.loads(atomic_files.read(cache / FILE) or b"[]")
        return {(case, variant): why for case, variant, why in found}
    except (ValueError, TypeError):  # a cache
        return {}


@contextmanager
def failure_kept(cache: Path, case: str, variant: str) -> Iterator[None]:
    """Remember why the block, which records a trial, has failed; a limit or a missing answer tells nothing of it."""
    why = ""
    try:
        yield
    except RecordingError as error:
        is_open = isinstance(error, UnansweredError | RecordingStoppedError)
        why = failed_trials(cache).get((case, variant), "") if is_open else str(error)
        raise
    finally:
        _keep(cache, case, variant, why)


def _keep(cache: Path, case: str, variant: str, why: str) -> None:
    from evals.secret_filter import scrub  # noqa: PLC0415 - a run, which only reads, has no use for it

    why = scrub(why)
    before = failed_trials(cache)
    if before.get((case, variant), "") == why:
        return
    with atomic_files.writing(cache / FILE):
        found = {**failed_trials(cache), (case, variant): why}
        kept = [[*name, text] for name, text in sorted(found.items()) if text]
        atomic_files.replace(cache / FILE, json.dumps(kept), synced=False)
