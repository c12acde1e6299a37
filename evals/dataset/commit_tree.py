"""The code of a case that names a repository and a commit, as a folder named by its content.

The commit's hash is its content's, so the folder is found without asking git; where it is not there yet it is written
out of `Commits`, and where that lacks the commit, it is taken in from a clone below the folder `EVALS_REPOS` names.
"""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from evals.dataset.clone import REPOS_VARIABLE, Clones, NoCodeError
from evals.dataset.commits import Commits
from evals.dataset.git import GitError
from evals.dataset.intact import is_intact, note, publish
from evals.dataset.memory import code_digest
from evals.errors import DatasetError
from evals.kept import Kept, digest_of

_RULE: Final = ("dataset/commits.py", "dataset/importers/diff.py")
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
    target = cache / "codebases" / tree_name(commit)
    listings = Kept(cache / "codebase-files")
    if is_intact(listings, target.name, target):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    _need(repository, commit, cache)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=target.parent) as scratch:
        tree = Path(scratch) / "tree"
        tree.mkdir()
        try:
            Commits.below(cache).write(commit, tree)
        except GitError as error:
            raise _lost([(repository, commit)], f"{error} in what is kept of it") from error
        note(listings, target.name, tree)
        publish(tree, target)
    return target


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
        f"folder DIR and run: evals dataset code --repos DIR (with the --dataset you use), or set {REPOS_VARIABLE}=DIR"
    )
