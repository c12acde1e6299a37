"""All releases of a dataset, several at a time: what is here already is not fetched again."""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event
from typing import Final

from evals.dataset.releases.download import download, download_together
from evals.dataset.releases.shelf import Shelf
from evals.errors import EvalsError, NotFetchedError
from evals.models.release import Release

AT_ONCE: Final = 4
TOGETHER: Final = 32
"""Releases asked for by one call of pip: enough to forget its start, few enough that one refused costs little."""
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
        under_way = {pool.submit(_several, batch, shelf, alone, note): batch for batch in batches(releases)}
        for finished in as_completed(under_way):
            wrong |= finished.result()
            for release in under_way[finished]:
                done(str(release))
    return [wrong[release] for release in releases if release in wrong]


def batches(releases: Sequence[Release]) -> list[tuple[Release, ...]]:
    """What can be asked for together: pip takes one release of a package at a time."""
    seen: dict[str, int] = defaultdict(int)
    rounds: dict[int, list[Release]] = defaultdict(list)
    for release in releases:
        name = re.sub(r"[-_.]+", "-", release.package).lower()
        rounds[seen[name]].append(release)
        seen[name] += 1
    return [tuple(each[n : n + TOGETHER]) for each in rounds.values() for n in range(0, len(each), TOGETHER)]


def _several(
    batch: Sequence[Release], shelf: Shelf, alone: Event, note: Callable[[str], None]
) -> dict[Release, EvalsError]:
    """What went wrong with each; those that did not come together are asked for one by one."""
    wrong: dict[Release, EvalsError] = {}
    wanted = [release for release in batch if shelf.missing([release]) and shelf.archive(release) is None]
    if len(wanted) > 1 and not alone.is_set():
        try:
            download_together(wanted, shelf, note)
        except NotFetchedError as error:
            alone.set()
            wrong[wanted[0]] = error
    for release in batch:
        found = wrong.get(release) or _one(release, shelf, alone, note)
        if found is not None:
            wrong[release] = found
    return wrong


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
