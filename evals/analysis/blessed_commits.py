"""Commits that blessed a suite, read from git."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Final, Self

import yaml

from evals.errors import CannotJudgeError, ConfigurationError
from evals.safe_yaml import LOADER
from evals.shared.git_command import DistrustError, GitError, NoGitError, git, open_git

_RECORD, _FIELD = "\x1e", "\x1f"
_FORMAT: Final = f"{_RECORD}%H{_FIELD}%aI{_FIELD}%aN{_FIELD}%s"


@dataclass(frozen=True)
class BlessedCommit:
    """A commit of the main line that changed a baseline: its file `path` then, and `blob`, None where it removed it."""

    sha: str
    date: str
    author: str
    subject: str
    path: str
    blob: str | None


@dataclass(frozen=True)
class HistoryRepository:
    """A checkout at `root`, which stands at `prefix` (empty, or ending in a slash) of its repository."""

    root: Path
    prefix: str

    @classmethod
    def at(cls, root: Path) -> Self:
        """The repository around a checkout.

        Raises:
            ConfigurationError: git is not installed, or there is no repository.
        """
        try:
            prefix = git(root, "rev-parse", "--show-prefix")
        except NoGitError as error:
            raise ConfigurationError("history is read out of git, which is not installed; install it") from error
        except DistrustError as error:
            raise ConfigurationError(f"{root}: {error}") from error
        except GitError as error:
            message = f"{root} is no git repository; history is read out of one, clone it with git"
            raise ConfigurationError(message) from error
        return cls(root, os.fsdecode(prefix).removesuffix("\n"))

    def commits(self, path: str) -> list[BlessedCommit]:
        """Commits of the main line up to HEAD that changed `path` (from the checkout's root), oldest first.

        A renamed file is followed. What a merge brought counts as done by the merge.
        """
        told = self._told(
            *("log", "--first-parent", "-m", "--follow", "-M", "--name-status", "-z"),
            *("--relative", "--encoding=UTF-8", f"--format={_FORMAT}", "--", path),
        )
        found = [_commit(record) for record in reversed(told.split(_RECORD)[1:])]
        blobs = self.objects([(commit.sha, commit.path) for commit in found])
        return [replace(commit, blob=blob) for commit, blob in zip(found, blobs, strict=True)]

    @property
    def shallow(self) -> bool:
        """Whether the clone lacks the older part of its history."""
        return self._told("rev-parse", "--is-shallow-repository").strip() == "true"

    def uncommitted(self, path: str) -> bool:
        """Whether the file is another in the checkout than in the last commit."""
        return bool(self._told("status", "--porcelain", "--", path))

    def objects(self, places: Sequence[tuple[str, str]]) -> list[str | None]:
        """The object at each (commit, path from the checkout's root); None where there is none."""
        names = (f"{commit}:{self.prefix}{path}" for commit, path in places)
        with self._batch("--batch-check", names) as lines:
            return [None if line.endswith(b" missing\n") else line.split()[0].decode() for line in lines]

    def contents(self, objects: Iterable[str]) -> Iterator[bytes]:
        """What each object holds, in order."""
        with self._batch("--batch", objects) as stream:
            while header := stream.readline():
                *_, size = header.split()
                if not size.isdigit():
                    raise CannotJudgeError(_INCOMPLETE)
                yield stream.read(int(size))
                stream.read(1)

    def _told(self, *words: str) -> str:
        try:
            return git(self.root, *words).decode("utf-8", errors="replace")
        except GitError as error:
            raise CannotJudgeError(_cause(error)) from error

    @contextmanager
    def _batch(self, mode: str, names: Iterable[str]) -> Iterator[IO[bytes]]:
        """What `git cat-file` says of many names."""
        given = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
        try:
            with open_git(self.root, "cat-file", mode, given=given) as output:
                yield output
        except GitError as error:
            raise CannotJudgeError(_INCOMPLETE) from error


_INCOMPLETE: Final = "this clone does not hold all of its history; get the rest with `git fetch --refetch --no-filter`"


def _cause(error: GitError) -> str:
    if error.lacks_objects:
        return _INCOMPLETE
    return f"git cannot tell the history ({error}); commit a baseline first"


def _commit(record: str) -> BlessedCommit:
    """A record of `git log`: the commit, then what it did to the file, whose name comes last."""
    head, *changes = (part.strip("\n") for part in record.split("\0"))
    sha, date, author, subject = head.split(_FIELD, 3)
    return BlessedCommit(sha, date, author, subject, [part for part in changes if part][-1], None)


def plain_yaml(raw: bytes) -> object:
    """The document in `raw`; None where it is none."""
    try:
        return yaml.load(raw, Loader=LOADER)  # noqa: S506 - a safe loader, whichever there is
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
