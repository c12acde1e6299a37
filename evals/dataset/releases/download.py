"""Releases from whatever index the user's pip asks, by their sha256; every way one can fail, as one line.

pip does the work: it knows the user's index, proxy, certificates and cache, and refuses a file of another hash. Its
start takes longer than most downloads, so several releases are asked for at once, and one alone to hear its reason.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from evals.dataset.releases.shelf import Shelf, sha256_of
from evals.errors import EvalsError, NotFetchedError, ReleaseError
from evals.models.release import Release

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


def download_together(releases: Sequence[Release], shelf: Shelf, note: Callable[[str], None] = lambda _: None) -> None:
    """Put the files on the shelf that one call of pip brings for all of them, releases of different packages. Where it
    refuses one, none is there: each is then to be asked for alone, to hear which and why. `note` as in `download`.

    Raises:
        NotFetchedError: no index answered; asking again would take as long.
    """
    shelf.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".downloading-", dir=shelf.folder) as scratch:
        done = _pip(releases, Path(scratch))
        said = done.stderr + done.stdout
        if done.returncode:
            why = refusal(releases[0], said)
            if isinstance(why, NotFetchedError) and _UNREACHABLE.search(said):
                raise why
            return
        by_digest = {release.sha256: release for release in releases}
        for path in Path(scratch, "files").glob("*"):
            release = by_digest.get(sha256_of(path))
            if release is not None:
                shelf.keep(release, path)
    yanked = set(_YANKED.findall(said))
    for release in releases:
        if (release.package, release.version) in yanked:
            note(_was_yanked(release))


def download(release: Release, shelf: Shelf, note: Callable[[str], None] = lambda _: None) -> None:
    """Put the release's file on the shelf, unless it is there. `note` hears that it was yanked.

    Raises:
        ReleaseError: the index has another file, or no such release.
        NotFetchedError: no index answered, or none of those asked knows the package.
    """
    if shelf.archive(release) is not None:
        return
    shelf.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".downloading-", dir=shelf.folder) as scratch:
        done = _pip([release], Path(scratch))
        said = done.stderr + done.stdout
        if done.returncode:
            raise refusal(release, said)
        found = [path for path in Path(scratch, "files").glob("*") if sha256_of(path) == release.sha256]
        if not found:
            raise ReleaseError(f"{release}: pip brought no file with the sha256 named; see what its index is")
        if "yanked" in said:
            note(_was_yanked(release))
        shelf.keep(release, found[0])


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


def _was_yanked(release: Release) -> str:
    return f"{release} was yanked by its authors; pip still gives it to whoever asks for this very version"


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
