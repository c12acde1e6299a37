"""Clones of foreign repositories, read by git."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evals.errors import ConfigurationError
from evals.shared.git_command import GitError, NoGitError
from evals.shared.git_command import git as any_git


def git(folder: Path, *words: str, given: bytes = b"") -> bytes:
    """What `evals.shared.git_command.git` returns.

    Raises:
        GitError: it failed.
        ConfigurationError: it is not installed.
    """
    with installed():
        return any_git(folder, *words, given=given)


@contextmanager
def installed() -> Iterator[None]:
    """Raises ConfigurationError where git is not."""
    try:
        yield
    except NoGitError as error:
        message = "the code of an imported case is read out of git, which is not installed; install it"
        raise ConfigurationError(message) from error


REPOS_VARIABLE: Final = "EVALS_REPOS"
"""Names the folder of clones where no option does."""
_SHA: Final = re.compile(r"[0-9a-f]{40}")
_REMOTE: Final = re.compile(r"(?:(?:https?|ssh|git)://[^/]+/|[^/@]+@[^/:]+:)(?P<name>[\w.-]+/[\w.-]+?)(?:\.git)?/?")


class NoCodeError(Exception):
    """The code of one case cannot be had; the message says what is missing and what to do, without any path."""


@dataclass(frozen=True)
class Clone:
    """A clone, a bare mirror or a worktree at `folder`; what it has checked out, if anything, does not matter."""

    folder: Path

    def commit(self, revision: str) -> str:
        """The whole hash of a commit. Raises GitError if there is none of that name, or its objects are not there."""
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        try:
            found = git(self.folder, *words).decode().strip()
        except GitError as error:
            raise GitError(f"has no commit {_short(revision)}; fetch it there") from error
        if not _SHA.fullmatch(found):
            raise GitError("names its objects by SHA-256, which this harness does not read")
        return found

    def parent(self, commit: str) -> str:
        """The (first) parent of a commit. Raises GitError where there is none, or a shallow clone ends here."""
        named = [line for line in self._header(commit) if line.startswith("parent ")]
        if not named:
            raise GitError(f"{_short(commit)} is the first commit: there is no code from before it")
        parent = named[0].removeprefix("parent ")
        try:
            return self.commit(parent)
        except GitError as error:
            raise GitError(
                f"ends before {_short(parent)}, the parent of {_short(commit)}; fetch it: git fetch --deepen 1"
            ) from error

    def diff(self, before: str, after: str) -> str:
        """The change between two commits, renames found, as a patch; what is no UTF-8 in it is replaced."""
        words = ("diff-tree", "-p", "-r", "-M", "--no-ext-diff", "--no-textconv", "--full-index", "--no-color")
        return git(self.folder, *words, before, after).decode(errors="replace")

    def renames(self, before: str, after: str) -> dict[str, str]:
        """Old path -> new path, of every file that was renamed between two commits."""
        told = git(self.folder, "diff-tree", "-r", "-M", "-z", "--name-status", "--diff-filter=R", before, after)
        fields = [field.decode(errors="surrogateescape") for field in told.split(b"\0") if field]
        return {old: new for _, old, new in zip(*[iter(fields)] * 3, strict=False)}

    def text(self, commit: str, path: str) -> str | None:
        """A file as it was, bytes that are no UTF-8 kept as surrogates; None if it was not there."""
        try:
            raw = git(self.folder, "cat-file", "blob", f"{commit}:{path}")
        except GitError:
            return None
        return raw.decode("utf-8", "surrogateescape").removeprefix("\ufeff").replace("\r\n", "\n")

    def repository(self) -> str:
        """`owner/name` by the address it was cloned from; empty where that says none."""
        try:
            told = git(self.folder, "config", "--get", "remote.origin.url").decode(errors="replace").strip()
        except GitError:
            return ""
        match = _REMOTE.fullmatch(told)
        return match["name"] if match else ""

    def _header(self, commit: str) -> list[str]:
        """The lines of the commit object itself: a shallow clone hides parents from every other command."""
        told = git(self.folder, "cat-file", "commit", commit)
        return told.partition(b"\n\n")[0].decode(errors="replace").splitlines()


def clone_at(folder: Path) -> Clone:
    """The repository in a folder. Raises ConfigurationError (one line) where there is none."""
    if not folder.is_dir():
        raise ConfigurationError(f"{folder}: there is no such folder; name a git clone")
    try:
        git(folder, "rev-parse", "--git-dir")
    except GitError as error:
        raise ConfigurationError(f"{folder}: is no git repository that can be read: {error}") from error
    return Clone(folder)


@dataclass(frozen=True)
class Clones:
    """The clones below a folder."""

    folder: Path

    @classmethod
    def below(cls, folder: Path) -> "Clones":
        """Raises ConfigurationError if there is no such folder."""
        if not folder.is_dir():
            raise ConfigurationError(f"{folder}: there is no such folder; name the one that holds the clones")
        return cls(folder)

    def holding(self, repository: str, commit: str) -> tuple[Clone, str]:
        """The clone of `repository` that has the commit, and the commit's whole hash.

        Raises:
            NoCodeError: there is no clone, or none that has the commit.
        """
        if not re.fullmatch(r"[0-9a-f]{7,40}", commit):
            raise NoCodeError(f"{commit[:40]!r} is no commit's hash")
        faults = []
        for folder in self._of(repository):
            try:
                clone = _itself(folder)
                return clone, clone.commit(commit)
            except GitError as error:
                faults.append(f"the clone of {repository} {error}")
        raise NoCodeError(faults[0] if faults else f"there is no clone of {repository}")

    def _of(self, repository: str) -> Iterator[Path]:
        """By name alone: that a clone has the commit asked for proves that it is the right one."""
        owner, _, name = repository.partition("/")
        if {owner, name} & {"", ".", ".."}:
            return
        for place in (f"{owner}/{name}", f"{owner}__{name}", name):
            for folder in (self.folder / place, self.folder / f"{place}.git"):
                if (folder / ".git").exists() or (folder / "HEAD").is_file():  # what git says of it is another matter
                    yield folder


def _itself(folder: Path) -> Clone:
    """The repository whose top `folder` is. Raises GitError, without git's own words: they may name a path."""
    try:
        told = git(folder, "rev-parse", "--show-cdup", "--is-bare-repository").decode().split()
    except GitError as error:
        raise GitError("cannot be read; ask `git status` there why") from error
    if told not in (["false"], ["true"]):  # the way up to its top comes first, where there is any
        raise GitError("is a folder of another repository")
    return Clone(folder)


def _short(revision: str) -> str:
    return revision[:12] if _SHA.fullmatch(revision) else revision
