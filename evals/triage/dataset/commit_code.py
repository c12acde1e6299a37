"""The source tree of a case that names a commit."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evals.content_cache import digest_of
from evals.errors import ConfigurationError, DatasetError
from evals.shared.git_command import CommitFile, GitError, commit_files, contents, write_file
from evals.triage.dataset.dataset_layout import built_tree, code_digest
from evals.triage.dataset.importers.imported_issue import is_test
from evals.triage.dataset.repository_clones import REPOS_VARIABLE, Clone, Clones, NoCodeError, git, installed

FOLDER: Final = "commits.git"
POINTER: Final = b"version https://git-lfs.github.com/spec/v1\n"
"""How a file begins that stands for one kept by git-lfs."""
_POINTER_BYTES: Final = 1024


@dataclass(frozen=True)
class Left:
    """What a commit names and does not hold: paths of submodules, and of files that git-lfs keeps elsewhere."""

    submodules: tuple[str, ...]
    pointers: tuple[str, ...]


@dataclass(frozen=True)
class Commits:
    """The bare repository at `folder`, made when the first commit is taken in."""

    folder: Path

    @classmethod
    def below(cls, cache: Path) -> "Commits":
        """The one of a checkout's cache."""
        return cls(cache / FOLDER)

    def has(self, commit: str) -> bool:
        """Whether the commit was taken in, whole."""
        try:
            git(self.folder, "cat-file", "-e", f"{commit}^{{commit}}")
        except GitError:
            return False
        return True

    def take(self, clone: Clone, commit: str) -> None:
        """Copy a commit and its tree out of a clone. They are here together or not at all.

        Raises:
            GitError: the clone lacks some of it, as a partial one does.
            ConfigurationError: nothing can be kept here.
        """
        self._make()
        needed = git(clone.folder, "rev-list", "--objects", "--no-object-names", "--no-walk", commit)
        lacking = self._lacking(needed)
        if lacking:
            pack = git(clone.folder, "pack-objects", "--stdout", "-q", given=lacking)
            try:
                git(self.folder, "index-pack", "--stdin", given=pack)
            except GitError as error:
                raise ConfigurationError(f"{self.folder}: cannot keep a commit's code: {error}") from error

    def _make(self) -> None:
        if (self.folder / "HEAD").is_file():
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            git(self.folder, "init", "--quiet", "--bare", "--object-format=sha1", ".")
        except (OSError, GitError) as error:
            raise ConfigurationError(f"{self.folder}: cannot keep a commit's code: {error}") from error

    def write(self, commit: str, folder: Path) -> None:
        """Every file of a commit that can be read or searched, byte for byte, below `folder`.

        Left out are tests (told by their names, by the very rule that leaves them out of the gold), links, submodules,
        pointers to what git-lfs keeps elsewhere, and files whose names are no text. Raises GitError where an object is
        missing.
        """
        write_files(self.folder, list(filter(_is_wanted, entries(self.folder, commit))), folder)

    def left_out(self, commit: str) -> Left:
        """What cannot be had of a commit. Raises GitError where an object is missing."""
        found = entries(self.folder, commit)
        small = [file for file in found if file.is_regular and file.size < _POINTER_BYTES]
        return Left(
            submodules=tuple(file.path for file in found if file.is_submodule),
            pointers=tuple(file.path for file, content in contents(self.folder, small) if _is_pointer(content)),
        )

    def _lacking(self, names: bytes) -> bytes:
        told = git(self.folder, "cat-file", "--batch-check=%(objectname)", given=names)
        return b"".join(line.split()[0] + b"\n" for line in told.splitlines() if line.endswith(b" missing"))


def entries(repository: Path, commit: str, *, below: bool = False) -> list[CommitFile]:
    """As `commit_files`. Raises ConfigurationError too, where git is not installed."""
    with installed():
        return list(commit_files(repository, commit, below=below))


def write_files(repository: Path, wanted: Sequence[CommitFile], folder: Path) -> None:
    """Write files of a commit below `folder`, byte for byte as they were committed: no filter is run. Pointers to what
    git-lfs keeps elsewhere are left out. Raises GitError where an object is missing."""
    with installed():
        for file, content in contents(repository, wanted):
            if not _is_pointer(content):
                write_file(folder, file, content)


def _is_wanted(file: CommitFile) -> bool:
    """Whether it is written: no test, and with a name that is text, since any other can stand in no request."""
    return file.is_regular and not is_test(file.path) and file.path.isprintable()


def _is_pointer(content: bytes) -> bool:
    return len(content) < _POINTER_BYTES and content.startswith(POINTER)


_RULE: Final = ("triage/dataset/commit_code.py", "triage/dataset/importers/imported_issue.py")
"""The code that says what is written of a commit: by another rule it is another folder."""


def take_in(repository: str, commit: str, clones: Clones, cache: Path) -> str:
    """Have a commit of a clone below `clones` in the cache; returns its whole hash.

    Raises:
        NoCodeError: there is no such clone, or it does not hold all of the commit.
        ConfigurationError: nothing can be kept in the cache.
    """
    clone, whole = clones.holding(repository, commit)
    try:
        Commits.below(cache).take(clone, whole)
    except GitError as error:
        raise NoCodeError(f"the clone of {repository} lacks files of {whole[:12]}; fetch them there") from error
    return whole


def tree_name(commit: str) -> str:
    """What the folder with a commit's code is called."""
    return digest_of(code_digest(*_RULE), commit.encode())[:24]


def commit_tree(repository: str, commit: str, cache: Path) -> Path:
    """The folder with the code of a commit, built on first use under `cache/codebases/<digest>`.

    Raises DatasetError (one line that says what to do) where it cannot be had.
    """

    def build(tree: Path) -> None:
        _need(repository, commit, cache)
        tree.mkdir()
        try:
            Commits.below(cache).write(commit, tree)
        except GitError as error:
            raise _lost([(repository, commit)], f"{error} in what is kept of it") from error

    return built_tree(cache, tree_name(commit), build)


def need_commits(wanted: Iterable[tuple[str, str]], cache: Path) -> None:
    """Make sure, before anything is run, that the code of each (repository, commit) can be had. Raises DatasetError,
    one line for all that cannot."""
    lacking = []
    for repository, commit in dict.fromkeys(wanted):
        if not (cache / "codebases" / tree_name(commit)).is_dir():
            try:
                _need(repository, commit, cache)
            except DatasetError:
                lacking.append((repository, commit))
    if lacking:
        raise _lost(lacking)


def _need(repository: str, commit: str, cache: Path) -> None:
    if Commits.below(cache).has(commit):
        return
    named = os.environ.get(REPOS_VARIABLE)
    if not named or not Path(named).is_dir():
        raise _lost([(repository, commit)])
    try:
        take_in(repository, commit, Clones(Path(named)), cache)
    except NoCodeError as error:
        raise _lost([(repository, commit)], str(error)) from error


def _lost(lacking: list[tuple[str, str]], why: str = "") -> DatasetError:
    (repository, commit), *others = lacking
    more = f" (and {len(others)} more)" if others else ""
    return DatasetError(
        f"the code of {repository} at {commit[:12]}{more} is not here{f' ({why})' if why else ''}; clone it below some "
        f"folder DIR and set {REPOS_VARIABLE}=DIR"
    )
