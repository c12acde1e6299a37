"""The source tree a case is about."""

import hashlib
import os
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field, field_validator

from evals.content_cache import digest_of
from evals.errors import DatasetError
from evals.models.base import Closed
from evals.models.case import Case
from evals.safe_yaml import read_model
from evals.shared.git_command import GitError
from evals.triage.dataset.commit_code import commit_tree
from evals.triage.dataset.dataset_layout import Layout, built_tree
from evals.triage.dataset.releases.release_store import Shelf, copy_searched, tree_name
from evals.triage.dataset.repository_clones import git
from evals.triage.released_package import Release

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

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
