"""One baseline with all that git says of it: its numbers, its suite's settings, the guards' code as of its commit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from evals.history.git import Repository
from evals.history.lineage import Found
from evals.history.settings import Settings, read_settings
from evals.history.stored import Stored, read_stored

GUARDS: Final = "triage/guards"


@dataclass(frozen=True)
class Blessed:
    """`stored` is None where `unread` says why nothing of the baseline can be read; `settings` and `code` (what the
    folder of the guards is in git) are None where the commit has none, or none that can be read."""

    found: Found
    stored: Stored | None
    settings: Settings | None
    code: str | None
    unread: tuple[str, ...]


def read_blessed(repository: Repository, found: Sequence[Found], scorers: tuple[str, ...]) -> list[Blessed]:
    """Every baseline, in order; what several share is read once."""
    places = [(each.commit.sha, _suite_file(each.path)) for each in found]
    suites = repository.objects(places)
    code = repository.objects([(each.commit.sha, GUARDS) for each in found])
    distinct = list(dict.fromkeys(blob for blob in suites if blob))
    settings = dict(zip(distinct, map(read_settings, repository.contents(distinct)), strict=True))
    return [
        _blessed(each, stored, settings.get(suite or ""), guards)
        for each, stored, suite, guards in zip(found, _stored(repository, found, scorers), suites, code, strict=True)
    ]


def _stored(repository: Repository, found: Sequence[Found], scorers: tuple[str, ...]) -> Iterator[Stored | str]:
    blobs = list(dict.fromkeys(each.blob for each in found))
    read = {blob: read_stored(raw, scorers) for blob, raw in zip(blobs, repository.contents(blobs), strict=True)}
    yield from (read[each.blob] for each in found)


def _blessed(found: Found, stored: Stored | str, settings: Settings | None, code: str | None) -> Blessed:
    if isinstance(stored, str):
        return Blessed(found, None, settings, code, (stored,))
    lacks = ("its suite's file is not there or cannot be read, so that guards and models are not known",)
    return Blessed(found, stored, settings, code, (*stored.unread, *(lacks if settings is None else ())))


def _suite_file(baseline: str) -> str:
    """Where the suite of a baseline stands: beside the folder of the baselines."""
    path = PurePosixPath(baseline)
    return str(path.parent.parent / f"{path.stem}.yaml")
