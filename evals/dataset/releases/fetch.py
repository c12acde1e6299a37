"""All releases of a dataset, several at a time: what is here already is not fetched again."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event
from typing import Final

from evals.dataset.releases.download import download
from evals.dataset.releases.shelf import Shelf
from evals.errors import EvalsError, NotFetchedError
from evals.models.release import Release

AT_ONCE: Final = 4
_SKIPPED: Final = "not asked for any more"


def fetch(
    releases: Sequence[Release],
    shelf: Shelf,
    done: Callable[[str], None] = lambda _: None,
    note: Callable[[str], None] = lambda _: None,
) -> list[EvalsError]:
    """Download and unpack; what went wrong, in the order of the releases. `done` hears of each, `note` of remarks.

    Once no index could be reached, the others are left out: each would wait for it as long.
    """
    alone = Event()
    wrong: dict[Release, EvalsError] = {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        under_way = {pool.submit(_one, release, shelf, alone, note): release for release in releases}
        for finished in as_completed(under_way):
            error = finished.result()
            if error is not None:
                wrong[under_way[finished]] = error
            done(str(under_way[finished]))
    return [wrong[release] for release in releases if release in wrong]


def _one(release: Release, shelf: Shelf, alone: Event, note: Callable[[str], None]) -> EvalsError | None:
    if not shelf.missing([release]):
        return None
    if alone.is_set():
        return NotFetchedError(f"{release}: {_SKIPPED}")
    try:
        download(release, shelf, note)
        shelf.put(release)
    except EvalsError as error:
        if isinstance(error, NotFetchedError):
            alone.set()
        return error
    return None
