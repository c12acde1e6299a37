"""Commits that blessed a suite, read from git."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Self

import yaml

from evals.errors import CannotJudgeError, ConfigurationError
from evals.safe_yaml import LOADER
from evals.shared.git_command import DistrustError, GitError, NoGitError, git, open_git

_FIELDS: Final = ("%H", "%P", "%aI", "%aN", "%s")


@dataclass(frozen=True)
class Commit:
    """A commit; `parents` are the nearest commits before it that touched the files asked for, the main line's first."""

    sha: str
    parents: tuple[str, ...]
    date: str
    author: str
    subject: str


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

    def commits(self, paths: Sequence[str]) -> list[Commit]:
        """Those up to HEAD that touched one of the paths, parents before children; merges only where both sides did."""
        told = self._told(
            *("log", "--simplify-merges", "--parents", "--topo-order", "--reverse", "-z"),
            *("--encoding=UTF-8", f"--format={'%x00'.join(_FIELDS)}", "--", *paths),
        )
        fields = told.split("\0")
        records = zip(*[iter(fields)] * len(_FIELDS), strict=False)
        return [Commit(sha, tuple(parents.split()), *rest) for sha, parents, *rest in records]

    def renames(self, pathspec: str) -> dict[str, str]:
        """New path -> old path, of every rename up to HEAD among the files of `pathspec`."""
        told = self._told(
            *("log", "--full-history", "-m", "-M", "--diff-filter=R", "--name-status", "-z", "--format=", "--relative"),
            *("--", pathspec),
        )
        fields = [field for field in told.split("\0") if field]
        return {new: old for _, old, new in zip(*[iter(fields)] * 3, strict=False)}

    @property
    def begins(self) -> frozenset[str]:
        """The commits at which a shallow clone begins; empty where all of history is there."""
        place = Path(self._told("rev-parse", "--git-path", "shallow").strip())
        path = self.root / place
        return frozenset(path.read_text(encoding="ascii").split()) if path.exists() else frozenset()

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


BASELINES: Final = ":(glob)**/baselines/*.json"
"""Where a baseline may have stood before it was renamed."""


@dataclass(frozen=True)
class BlessedCommit:
    """A baseline as a commit blessed it: `blob` at `path`. `follows` is the place of the one before it in the list,
    None for the first; `gone` the commit that took the file away in between. `side`: on a branch merged later."""

    commit: Commit
    path: str
    blob: str
    follows: int | None
    gone: str | None
    side: bool


@dataclass(frozen=True)
class Lineage:
    """All baselines of a suite, parents before children; `gone` is the commit that took the file away for good."""

    found: tuple[BlessedCommit, ...]
    gone: str | None


@dataclass(frozen=True)
class _State:
    """What a commit holds: the last baseline up to it, and since when there is no file."""

    last: int | None = None
    blob: str | None = None
    gone: str | None = None


def lineage(repository: HistoryRepository, path: str) -> Lineage:
    """The baselines that ever stood at `path` (from the checkout's root), or where it was renamed from."""
    names = _names(path, repository.renames(BASELINES))
    commits = repository.commits(names)
    places = [(commit.sha, name) for commit in commits for name in names]
    objects = dict(zip(places, repository.objects(places), strict=True))
    trunk = _trunk(commits)
    states: dict[str, _State] = {}
    found: list[BlessedCommit] = []
    for commit in commits:
        before = next((states[sha] for sha in commit.parents if sha in states), _State())
        name = next((name for name in names if objects[commit.sha, name]), None)
        blob = objects[commit.sha, name] if name else None
        if name is None or blob is None:
            states[commit.sha] = _State(before.last, None, before.gone or commit.sha)
        elif blob == before.blob:
            states[commit.sha] = before
        else:
            found.append(BlessedCommit(commit, name, blob, before.last, before.gone, commit.sha not in trunk))
            states[commit.sha] = _State(len(found) - 1, blob)
    end = states[commits[-1].sha] if commits else _State()
    return Lineage(tuple(found), end.gone if end.last is not None else None)


def _names(path: str, renames: Mapping[str, str]) -> list[str]:
    """The path, and what it was called before that, the newest first."""
    names = [path]
    while (before := renames.get(names[-1])) is not None and before not in names:
        names.append(before)
    return names


def _trunk(commits: Sequence[Commit]) -> set[str]:
    """The last commit and its first parents: the line that merges came into."""
    first = {commit.sha: commit.parents[0] if commit.parents else None for commit in commits}
    trunk: set[str] = set()
    sha = commits[-1].sha if commits else None
    while sha is not None and sha in first:
        trunk.add(sha)
        sha = first[sha]
    return trunk


def plain_yaml(raw: bytes) -> object:
    """The document in `raw`; None where it is none."""
    try:
        return yaml.load(raw, Loader=LOADER)  # noqa: S506 - a safe loader, whichever there is
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
