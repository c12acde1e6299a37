"""Which files belong to a checkout, by git's own answer: no link is followed, and a listing has a limit.

A checkout may be a stranger's, and so may its index: a link, a path that leads out of the folder, or a `.git` file that
points elsewhere would bring files of another project into requests.
"""

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from triage.git import GitError, NoGitError, git

MAX_FILES: Final = 100_000
"""The Linux kernel has 85,000."""
MAX_DEPTH: Final = 64
"""Folders above a file, the file included; the deepest trees that people write have 20 or so."""
MAX_REPOSITORIES: Final = 1_000
"""Repositories inside of the repository; each takes two calls of git."""
_MAX_LISTING: Final = 100_000_000
"""Bytes of names: 1,000 for each file that may be read."""
_TIMEOUT_S: Final = 60.0
_NOT_IGNORED: Final = 1
"""The exit code of `git check-ignore`."""
_SUBMODULE: Final = b"160000 "
_MAX_POINTER: Final = 4_096
"""Bytes of a `.git` file, which holds one path."""


@dataclass
class Listing:
    """The `files` of a checkout by name, and whether git tracks each; `links`, `unreadable` and `beyond` (the limits)
    count files and folders that are left out. `fault` is git's reason where it gave no listing at all."""

    files: dict[str, bool] = field(default_factory=dict)
    links: int = 0
    unreadable: int = 0
    beyond: int = 0
    fault: str = ""


def listed(root: Path) -> Listing | None:
    """The files below `root` that git tracks or does not ignore, submodules included.

    None if there is no git, no repository, or one that ignores this whole folder, as with installed libraries. A
    listing with a `fault` has no files: there is a repository, and git does not read it.
    """
    try:
        return _Lister(root).all()
    except (NoGitError, NoRepositoryError):
        return None
    except GitError as error:
        return Listing(fault=str(error))


class NoRepositoryError(Exception):
    """There is no repository, or it ignores the folder."""


class _Lister:
    """Fills a `Listing`, repository by repository."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders: dict[str, bool] = {"": True}
        self._repositories = 0
        self._found = Listing()

    def all(self) -> Listing:
        """Raises NoRepositoryError, GitError."""
        self._add("")
        return self._found

    def _add(self, prefix: str) -> None:
        """Add what the repository at `prefix` (empty, or ending in a slash) holds."""
        folder = self._root / prefix
        for line in filter(None, _names(folder).split(b"\0")):
            name, tracked = prefix + os.fsdecode(line[2:]).rstrip("/"), not line.startswith(b"?")
            if name.count("/") >= MAX_DEPTH or len(self._found.files) >= MAX_FILES:
                self._found.beyond += 1
            elif not self.is_inside(name):
                self._found.links += 1
            else:
                self._add_one(name, tracked=tracked)

    def _add_one(self, name: str, *, tracked: bool) -> None:
        mode = _mode(self._root / name)
        if not stat.S_ISDIR(mode):
            if mode:  # else deleted, and the deletion is not committed yet
                self._found.files[name] = tracked
        elif _mode(self._root / name / ".git"):  # a repository of its own: git says no more than its name
            self._add_repository(name)
        else:
            self._found.unreadable += 1

    def _add_repository(self, name: str) -> None:
        if not owns_repository(self._root, name):
            self._found.links += 1
        elif self._repositories >= MAX_REPOSITORIES:
            self._found.beyond += 1
        else:
            self._repositories += 1
            try:
                self._add(f"{name}/")
            except (GitError, NoRepositoryError):
                self._found.unreadable += 1

    def is_inside(self, name: str) -> bool:
        """Whether every folder above the file is a real one below the root."""
        *folders, last = name.split("/")
        if {"", ".", "..", ".git"} & {*folders, last}:  # no honest index holds such a name
            return False
        return self._is_real("/".join(folders))

    def _is_real(self, folder: str) -> bool:
        if folder not in self._folders:
            above = folder.rpartition("/")[0]
            self._folders[folder] = self._is_real(above) and not stat.S_ISLNK(_mode(self._root / folder))
        return self._folders[folder]


def submodules(root: Path) -> list[str]:
    """The checked out submodules of the repository at `root`, below that folder, by name. Raises GitError."""
    entries = git(root, "ls-files", "-z", "--stage", timeout_s=_TIMEOUT_S, max_bytes=_MAX_LISTING).split(b"\0")
    names = [os.fsdecode(entry.partition(b"\t")[2]) for entry in entries if entry.startswith(_SUBMODULE)]
    lister = _Lister(root)
    near = (name for name in names if name.count("/") < MAX_DEPTH)
    inside = [name for name in near if lister.is_inside(name) and stat.S_ISDIR(_mode(root / name))]
    return [name for name in inside if _mode(root / name / ".git") and owns_repository(root, name)][:MAX_REPOSITORIES]


def owns_repository(root: Path, name: str) -> bool:
    """Whether the repository in folder `name` of a checkout is kept in the checkout: in the folder itself, or, for a
    submodule, in the repository around it. A `.git` that is a link or points elsewhere is another project's."""
    place = root / name / ".git"
    mode = _mode(place)
    if stat.S_ISDIR(mode):
        return True
    if not stat.S_ISREG(mode):
        return False
    try:
        with place.open("rb") as file:
            pointer = os.fsdecode(file.read(_MAX_POINTER)).strip()
        target = (root / name / pointer.removeprefix("gitdir:").strip()).resolve()
        common = git(root, "rev-parse", "--git-common-dir", timeout_s=_TIMEOUT_S)
    except (OSError, ValueError, GitError):
        return False
    homes = (root.resolve(), (root / os.fsdecode(common).removesuffix("\n")).resolve())
    return pointer.startswith("gitdir:") and any(target.is_relative_to(home) for home in homes)


def _names(folder: Path) -> bytes:
    """Raises NoRepositoryError, GitError."""
    try:
        git(folder, "check-ignore", "--quiet", str(folder.resolve()), timeout_s=_TIMEOUT_S)
    except GitError as error:
        if "not a git repository" in error.said:
            raise NoRepositoryError from error
        if error.code != _NOT_IGNORED:
            raise
    else:
        raise NoRepositoryError
    words = ("ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard")
    return git(folder, *words, timeout_s=_TIMEOUT_S, max_bytes=_MAX_LISTING)


def _mode(path: Path) -> int:
    """What kind of file it is, links not followed; 0 where there is none."""
    try:
        return path.lstat().st_mode
    except (OSError, ValueError):
        return 0
