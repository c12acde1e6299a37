"""Paths of a dataset, and whether a built folder is complete."""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from evals.content_cache import Kept, digest_of
from evals.import_hook import digest_of_code
from evals.installed_packages import package_digest
from evals.paths import PACKAGE


@dataclass(frozen=True)
class Layout:
    """The paths of one dataset."""

    root: Path

    @property
    def policy(self) -> Path:
        """The dataset-wide route policy."""
        return self.root / "triage" / "policy.yaml"

    @property
    def holdout(self) -> Path:
        """The count of looks at the held-out cases."""
        return self.root / "holdout.yaml"

    @property
    def cases(self) -> Path:
        """The folder with one folder per case."""
        return self.root / "triage" / "cases"

    @property
    def codebases(self) -> Path:
        """The folder with one folder per clean package."""
        return self.root / "codebases"

    @property
    def web(self) -> Path:
        """The pages the local search server serves."""
        return self.root / "web"

    def page(self, name: str) -> Path:
        """One page of the offline web."""
        return self.web / f"{name}.md"

    def labels(self, case_id: str) -> Path:
        """The labels of one case."""
        return self.cases / case_id / "case.yaml"

    def issue(self, case_id: str) -> Path:
        """The text of one issue."""
        return self.cases / case_id / "issue.md"

    def patch(self, case_id: str) -> Path:
        """What makes the clean codebase buggy; need not exist."""
        return self.cases / case_id / "bug.patch"

    def repro(self, case_id: str) -> Path:
        """What shows the bug; need not exist."""
        return self.cases / case_id / "repro.py"

    def suite(self, case_id: str) -> Path:
        """The suite that runs a case as its live job ran; need not exist."""
        return self.root / "triage" / "suites" / f"{case_id}.yaml"

    def codebase(self, name: str) -> Path:
        """The clean package."""
        return self.codebases / name


def note(listings: Kept, name: str, folder: Path) -> None:
    """Keep under `name` what the folder holds now."""
    files = (path for path in folder.rglob("*") if path.is_file())
    sizes = {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}
    listings.put(name, json.dumps(sizes, sort_keys=True).encode())


def is_intact(listings: Kept, name: str, folder: Path) -> bool:
    """Whether every noted file is there in its size; False too if nothing readable was noted."""
    try:
        sizes = json.loads(listings.get(name) or b"")
        return folder.is_dir() and all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, AttributeError):
        return False


def built_tree(cache: Path, name: str, build: Callable[[Path], None]) -> Path:
    """The folder `name` of code below the cache: as it was built, if every file is there, else `build` makes it now.

    `build` writes to the path it is given, where nothing is yet. The folder appears by one rename, so nobody ever sees
    half of it, and of two builders at once one wins. One that lost files is filled anew.
    """
    target, listings = cache / "codebases" / name, Kept(cache / "codebase-files")
    if not is_intact(listings, name, target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".building-", dir=target.parent) as scratch:
            tree = Path(scratch) / "tree"
            build(tree)
            note(listings, name, tree)
            publish(tree, target)
    return target


def publish(tree: Path, target: Path) -> None:
    """Move a folder that was built to its place; one that is there, of another process or with files lost, is filled.
    Raises OSError."""
    try:
        tree.rename(target)
    except OSError:
        if not target.is_dir():  # not the lost race that is fine, but a full or read-only disk
            raise
        refill(target, tree)


def refill(folder: Path, built: Path) -> None:
    """Move every file of `built` to its place in `folder`. Each comes by one rename, so that readers see it whole."""
    for file in [path for path in built.rglob("*") if path.is_file()]:
        place = folder / file.relative_to(built)
        place.parent.mkdir(parents=True, exist_ok=True)
        file.replace(place)


_LIBRARIES: Final = ("pydantic", "pydantic_core", "yaml", "bm25s")


@cache
def code_digest(*patterns: str) -> bytes:
    """Of the files that match one of the patterns, relative to `evals`. Raises ValueError for a pattern of no file."""
    found = {pattern: sorted(PACKAGE.glob(pattern)) for pattern in patterns}
    for pattern in (pattern for pattern, files in found.items() if not files):
        raise ValueError(f"{pattern}: no such code; correct the pattern")
    return digest_of(*(digest_of_code(file).encode() for files in found.values() for file in files)).encode()


def libraries_digest(cache: Path) -> bytes:
    """Of the installed packages that checks of a dataset use."""
    return package_digest(cache, *_LIBRARIES).encode()
