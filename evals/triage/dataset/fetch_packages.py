"""Fetch released packages from the user's index, checked by hash."""

import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from threading import Event
from typing import Final

from evals.errors import EvalsError, NotFetchedError, ReleaseError
from evals.models.case import Case
from evals.triage.dataset.case_code import load_codebase, released_tree
from evals.triage.dataset.dataset_layout import Layout
from evals.triage.dataset.package_store import FETCH, Release, Shelf, sha256_of

TIMEOUT_S: Final = 600
"""For one call; pip's own timeouts are far shorter."""
_OPTIONS: Final = (
    "--disable-pip-version-check",
    "--no-input",
    "--progress-bar",
    "off",
    "--retries",
    "2",
    "--timeout=20",
)
_UNREACHABLE: Final = re.compile(
    r"NewConnectionError|Failed to establish|[Nn]ame resolution|Connection refused|ConnectTimeout|Max retries|Tunnel|"
    r"ProxyError|[Rr]ead timed out|Connection aborted|Connection broken|IncompleteRead|Remote end closed|5\d\d Server"
)
_YANKED: Final = re.compile(r"yanked version: '([^']+)' candidate \(version (\S+)")
_VERSIONS: Final = re.compile(r"\(from versions: ([^)]*)\)")


def download(releases: Sequence[Release], shelf: Shelf, note: Callable[[str], None] = lambda _: None) -> None:
    """Put the files on the shelf that one call of pip brings for releases of different packages. Where it refuses one
    of several, none is there: each is then to be asked for alone, to hear which and why. `note` hears of yanked ones.

    Raises:
        ReleaseError: of a single release: the index has another file, or no such release.
        NotFetchedError: no index answered, or none of those asked knows the single package.
    """
    shelf.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".downloading-", dir=shelf.folder) as scratch:
        done = _pip(releases, Path(scratch))
        said = done.stderr + done.stdout
        if done.returncode:
            if len(releases) == 1 or _UNREACHABLE.search(said):
                raise refusal(releases[0], said)
            return
        brought = {sha256_of(path): path for path in Path(scratch, "files").glob("*")}
        for release in releases:
            if release.sha256 in brought:
                shelf.keep(release, brought[release.sha256])
            elif len(releases) == 1:
                raise ReleaseError(f"{release}: pip brought no file with the sha256 named; see what its index is")
    yanked = set(_YANKED.findall(said))
    for release in releases:
        if (release.package, release.version) in yanked or (len(releases) == 1 and "yanked" in said):
            note(f"{release} was yanked by its authors; pip still gives it to whoever asks for this very version")


def _pip(releases: Sequence[Release], scratch: Path) -> "subprocess.CompletedProcess[str]":
    wanted = scratch / "wanted.txt"
    lines = (f"{each.package}=={each.version} --hash=sha256:{each.sha256}\n" for each in releases)
    wanted.write_text("".join(lines), encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", *_OPTIONS, "--no-deps", "--require-hashes"]
    command += ["--dest", str(scratch / "files"), "--requirement", str(wanted)]
    try:
        return subprocess.run(  # noqa: S603 -- our own interpreter; names and versions have been checked
            command,
            env={**os.environ, "PYTHONWARNINGS": "ignore", "NO_COLOR": "1"},
            cwd=scratch,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NotFetchedError(f"{releases[0]}: pip did not end within {TIMEOUT_S} s; try again") from None


def refusal(release: Release, said: str) -> EvalsError:
    """What pip's words mean, as one line that says what to do."""
    if "DO NOT MATCH THE HASHES" in said:
        return ReleaseError(
            f"{release}: the index gives a file with another sha256 than {release.sha256[:12]}…; it was replaced or "
            "damaged on its way: compare codebase.yaml or case.yaml with the index"
        )
    if _UNREACHABLE.search(said):
        return NotFetchedError(f"{release}: no index could be reached; go online, or see `pip config list`")
    versions = _VERSIONS.search(said)
    if versions and versions[1] == "none":
        return NotFetchedError(f"{release}: no index that your pip asks has any release of it for this Python")
    if versions:
        return ReleaseError(f"{release}: the index has other releases, not this one; it was withdrawn, or is mistyped")
    if "No module named pip" in said:
        return NotFetchedError(f"{release}: there is no pip in this environment; run `make setup`")
    last = next((line for line in reversed(said.splitlines()) if line.strip()), "no reason given")
    return ReleaseError(f"{release}: pip could not download it: {last.removeprefix('ERROR: ').strip()}")


AT_ONCE: Final = 4
TOGETHER: Final = 32
"""Releases asked for by one call of pip: enough to forget its start, few enough that one refused costs little."""
_SKIPPED: Final = "not asked for any more"


def fetch_all(
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
            download(wanted, shelf, note)
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
        if shelf.archive(release) is None:
            download([release], shelf, note)
        shelf.put(release)
    except EvalsError as error:
        if isinstance(error, NotFetchedError):
            alone.set()
        return error
    return None


_NAMED = 3


def all_releases(cases: Iterable[Case], root: Path) -> list[Release]:
    """Everything that running and proving these cases takes, each once: packages, what they need, and their fixes."""
    found: dict[Release, None] = {}
    for case in cases:
        if case.tree is None:
            continue
        releases = load_codebase(Layout(root).codebase(str(case.labels.codebase))).releases
        found.update(dict.fromkeys(releases))
        if case.labels.fixed is not None:
            found[case.labels.fixed.release_of(releases[0].package)] = None
    return list(found)


def searched_releases(cases: Iterable[Case], root: Path) -> list[Release]:
    """The packages that agents search in these cases, each once."""
    names = dict.fromkeys(str(case.labels.codebase) for case in cases if case.tree is not None)
    sources = (load_codebase(Layout(root).codebase(name)).source for name in names)
    return [source for source in sources if source is not None]


def lay_out(cases: Iterable[Case], root: Path, cache: Path) -> None:
    """Make the folders that are searched, of releases that are here: recordings refer to the lines in them, and are
    read before any case is replayed. Raises NotFetchedError."""
    for name in dict.fromkeys(str(case.labels.codebase) for case in cases if case.tree is not None):
        released_tree(load_codebase(Layout(root).codebase(name)), cache)


def refuse_unfetched(cases: Iterable[Case], root: Path, cache: Path) -> None:
    """Raises NotFetchedError, with the command to run, unless the code of all these cases is here and whole; lays it
    out to be searched."""
    cases = tuple(cases)
    wanted = searched_releases(cases, root)
    missing = Shelf(cache).missing(wanted)
    if missing:
        named = ", ".join(map(str, missing[:_NAMED])) + (", …" if len(missing) > _NAMED else "")
        raise NotFetchedError(
            f"{len(missing)} of {len(wanted)} released packages are not here, or not whole ({named}); {FETCH} once, "
            "which needs an index; after that nothing needs a network"
        )
    lay_out(cases, root, cache)
