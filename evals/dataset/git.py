"""Git, where a case's code is read out of it: as `triage.git`, but a missing git is an error of the configuration."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from evals.errors import ConfigurationError
from triage.git import GitError, NoGitError, open_git
from triage.git import git as any_git

__all__ = ["GitError", "git", "git_stream"]


def git(folder: Path, *words: str, given: bytes = b"") -> bytes:
    """What `triage.git.git` returns.

    Raises:
        GitError: it failed.
        ConfigurationError: it is not installed.
    """
    with _installed():
        return any_git(folder, *words, given=given)


@contextmanager
def git_stream(folder: Path, *words: str, given: bytes = b"") -> Iterator[IO[bytes]]:
    """The output as a stream. Raises like `git`."""
    with _installed(), open_git(folder, *words, given=given) as output:
        yield output


@contextmanager
def _installed() -> Iterator[None]:
    try:
        yield
    except NoGitError as error:
        message = "the code of an imported case is read out of git, which is not installed; install it"
        raise ConfigurationError(message) from error
