"""Which commits blessed a suite: its baseline followed backwards through renames, merges and squashed branches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evals.history.git import Commit, Repository

BASELINES: Final = ":(glob)**/baselines/*.json"
"""Where a baseline may have stood before it was renamed."""


@dataclass(frozen=True)
class Found:
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

    found: tuple[Found, ...]
    gone: str | None


@dataclass(frozen=True)
class _State:
    """What a commit holds: the last baseline up to it, and since when there is no file."""

    last: int | None = None
    blob: str | None = None
    gone: str | None = None


def lineage(repository: Repository, path: str) -> Lineage:
    """The baselines that ever stood at `path` (from the checkout's root), or where it was renamed from."""
    names = _names(path, repository.renames(BASELINES))
    commits = repository.commits(names)
    places = [(commit.sha, name) for commit in commits for name in names]
    objects = dict(zip(places, repository.objects(places), strict=True))
    trunk = _trunk(commits)
    states: dict[str, _State] = {}
    found: list[Found] = []
    for commit in commits:
        before = next((states[sha] for sha in commit.parents if sha in states), _State())
        name = next((name for name in names if objects[commit.sha, name]), None)
        blob = objects[commit.sha, name] if name else None
        if name is None or blob is None:
            states[commit.sha] = _State(before.last, None, before.gone or commit.sha)
        elif blob == before.blob:
            states[commit.sha] = before
        else:
            found.append(Found(commit, name, blob, before.last, before.gone, commit.sha not in trunk))
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
