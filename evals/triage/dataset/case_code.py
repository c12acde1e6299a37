"""The source tree that a case is about: a clean codebase with its patch, a release, or a commit."""

import hashlib
import os
import platform
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field, field_validator

from evals.content_cache import digest_of
from evals.errors import ConfigurationError, DatasetError
from evals.models.base import Closed
from evals.models.case import Case
from evals.safe_yaml import read_model
from evals.shared.git_command import CommitFile, GitError, commit_files, contents, write_file
from evals.triage.dataset.dataset_layout import Layout, built_tree, code_digest
from evals.triage.dataset.imported_issue_files import is_test
from evals.triage.dataset.package_store import Release, Shelf, copy_searched, tree_name
from evals.triage.dataset.repository_clones import REPOS_VARIABLE, Clone, Clones, NoCodeError, git, installed

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

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


_RULE: Final = ("triage/dataset/case_code.py", "triage/dataset/imported_issue_files.py")
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


def commit_tree_name(commit: str) -> str:
    """What the folder with a commit's code is called."""
    return digest_of(code_digest(*_RULE), commit.encode())[:24]


def commit_tree(repository: str, commit: str, cache: Path) -> Path:
    """The folder with the code of a commit, built on first use under `cache/codebases/<digest>`.

    Raises DatasetError (one line that says what to do) where it cannot be had.
    """

    def build(tree: Path) -> None:
        _need_commit(repository, commit, cache)
        tree.mkdir()
        try:
            Commits.below(cache).write(commit, tree)
        except GitError as error:
            raise _lost([(repository, commit)], f"{error} in what is kept of it") from error

    return built_tree(cache, commit_tree_name(commit), build)


def need_commits(wanted: Iterable[tuple[str, str]], cache: Path) -> None:
    """Make sure, before anything is run, that the code of each (repository, commit) can be had. Raises DatasetError,
    one line for all that cannot."""
    lacking = []
    for repository, commit in dict.fromkeys(wanted):
        if not (cache / "codebases" / commit_tree_name(commit)).is_dir():
            try:
                _need_commit(repository, commit, cache)
            except DatasetError:
                lacking.append((repository, commit))
    if lacking:
        raise _lost(lacking)


def _need_commit(repository: str, commit: str, cache: Path) -> None:
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


ABOUT: Final = "codebase.yaml"
LEFTOVERS: Final = shutil.ignore_patterns("__pycache__", "*.pyc", ".*", "*.egg-info", ABOUT)


class Codebase(Closed):
    """`codebase.yaml`: what the package is called where it is hosted, and what it does; of a live job's checkout also
    the `revision` it stood at ("" where that is not known), and what jobs call it. A released package is its `source`,
    which is fetched; `needs` are the releases it has to import, and are never searched. `requires_python` are the
    Pythons it runs on, where these are not all of ours (a version specifier)."""

    repository: Annotated[str, Field(pattern=r"^[^/\s][^/\n]*(/[\w.-]+)?$")]
    description: str
    revision: str | None = None
    source: Release | None = None
    needs: tuple[Release, ...] = ()
    requires_python: str | None = None

    @field_validator("requires_python")
    @classmethod
    def _specifies(cls, value: str | None) -> str | None:
        if value is not None:
            _pythons(value)
        return value

    @property
    def runs_here(self) -> bool:
        """Whether it can be run on the Python that asks."""
        return self.requires_python is None or platform.python_version() in _pythons(self.requires_python)

    @property
    def ours(self) -> bool:
        """Whether it was written for this project, and keeps its rules."""
        return self.revision is None and self.source is None

    @property
    def releases(self) -> tuple[Release, ...]:
        """What has to be fetched, the searched one first; nothing where the code is here."""
        return (self.source, *self.needs) if self.source else ()

    @property
    def tree(self) -> str | None:
        """What the folder with the searched code is called, where that follows from the release alone."""
        return tree_name(self.source) if self.source else None


def _pythons(specifier: str) -> "SpecifierSet":
    """Raises ValueError."""
    from packaging.specifiers import SpecifierSet  # noqa: PLC0415 - few codebases say which

    return SpecifierSet(specifier)


def load_codebase(path: Path) -> Codebase:
    """Reads the description of the codebase in folder `path`. Raises DatasetError."""
    return read_model(path / ABOUT, Codebase)


def code_of(path: Path) -> str:
    """What the code of the codebase in folder `path` is told from others by: its content, or the releases it is.

    Raises DatasetError."""
    code = load_codebase(path)
    if code.source is None:
        return tree_digest(path)
    return digest_of(str(code.tree).encode(), *(release.sha256.encode() for release in code.releases))


def tree_digest(path: Path) -> str:
    """Sha256 (hex) over names and contents of all source files; caches and hidden files do not count."""
    digest = hashlib.sha256()
    for file in sorted(_files(path), key=lambda file: file.relative_to(path).as_posix()):
        name = file.relative_to(path).as_posix().encode()
        digest.update(hashlib.sha256(name).digest() + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def materialise(case: Case, root: Path, cache: Path) -> Path:
    """The folder with the code this case is about, built on first use under `cache/codebases/<digest>`.

    Holds sources only: no labels, no patch, no repro. Cases with equal codebase and patch share one folder, and so do
    those of one commit; an imported case whose code is not known gets an empty one. Raises DatasetError when the
    codebase or the commit is missing or the patch does not apply, NotFetchedError when a release is not here.
    """
    if case.labels.base_commit is not None:
        return commit_tree(str(case.labels.repository), case.labels.base_commit, cache)
    if case.labels.codebase is None:
        return _empty_tree(cache)
    layout = Layout(root)
    if case.tree is not None:
        return released_tree(load_codebase(layout.codebase(case.labels.codebase)), cache)
    patch = layout.patch(case.id)
    return build_tree(layout.codebase(case.labels.codebase), patch if patch.exists() else None, cache, case.code)


def released_tree(code: Codebase, cache: Path) -> Path:
    """The searched files of a released package. Raises NotFetchedError."""
    if code.source is None or code.tree is None:
        raise DatasetError(f"{code.repository}: is no released package; its code stands in the dataset")
    unpacked = Shelf(cache).unpacked(code.source)
    return built_tree(cache, code.tree, lambda tree: copy_searched(unpacked, tree))


def _empty_tree(cache: Path) -> Path:
    tree = cache / "codebases" / "none"
    tree.mkdir(parents=True, exist_ok=True)
    return tree


def build_tree(clean: Path, patch: Path | None, cache: Path, name: str | None = None) -> Path:
    """`clean` with `patch` applied, as a folder named by the content of both; `name` is that name if it is known.

    Raises DatasetError if what was copied is not what the folder is named by.
    """
    known = name or _name(clean, patch)

    def build(tree: Path) -> None:
        change = patch.read_bytes() if patch is not None else b""
        _copy(clean, tree)
        if tree_named(tree_digest(tree), change) != known:
            raise DatasetError(f"{clean}: changed, or its patch did, while the run was under way; run it again")
        if patch is not None:
            _apply(patch, change, tree)

    return built_tree(cache, known, build)


def tree_named(digest: str, patch: bytes) -> str:
    """What the folder with a codebase of this digest is called once the patch is applied."""
    return hashlib.sha256(f"1 {digest} ".encode() + patch).hexdigest()[:24]


def _name(clean: Path, patch: Path | None) -> str:
    _need(clean)
    return tree_named(tree_digest(clean), patch.read_bytes() if patch is not None else b"")


def _need(clean: Path) -> None:
    if not clean.is_dir():
        raise DatasetError(f"{clean}: there is no such codebase; create it or correct `codebase` in the case")


def _copy(clean: Path, tree: Path) -> None:
    _need(clean)
    try:
        shutil.copytree(clean, tree, ignore=LEFTOVERS)
    except shutil.Error as error:  # a file went away amid it
        raise DatasetError(f"{clean}: cannot be copied ({error.args[0][0][-1]}); run it again") from error


def _apply(patch: Path, change: bytes, tree: Path) -> None:
    """Apply a change, which was read from `patch`, to the tree."""
    try:
        git(tree, "apply", "--whitespace=nowarn", "-", given=change)
    except GitError as error:
        raise DatasetError(f"{patch}: does not apply to the clean codebase: {error}") from error


def _files(path: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(path):
        ignored = LEFTOVERS(folder, [*folders, *names])
        folders[:] = sorted(set(folders) - ignored)
        yield from (Path(folder) / name for name in names if name not in ignored)
