"""A prompt as it was: the file of a git revision, read out of git's objects."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from evals.errors import ConfigurationError
from triage.git import DistrustError, GitError, NoGitError, git

PREFIX: Final = "git:"
_VERSIONS: Final = "triage/prompts/supervisor"


@dataclass(frozen=True)
class PromptRevision:
    """`git:REV:WHAT`: a revision, and a prompt version or the path of a `.md` file in it, from the checkout's root."""

    revision: str
    what: str

    @classmethod
    def parse(cls, spec: str, otherwise: str) -> Self:
        """The revision that `spec` names; `git:REV` alone means the prompt `otherwise`.

        Raises:
            ConfigurationError: no revision is named.
        """
        revision, _, what = spec.removeprefix(PREFIX).partition(":")
        if not revision:
            raise ConfigurationError(
                f"{spec}: names no revision; write git:REV, git:REV:v3 or git:REV:path/to/prompt.md"
            )
        return cls(revision, what or otherwise)

    @property
    def name(self) -> str:
        """What reports call it."""
        return f"{self.what}@{self.revision}"

    @property
    def path(self) -> str:
        """The file, from the checkout's root."""
        return self.what if self.what.endswith(".md") else f"{_VERSIONS}/{self.what}.md"

    def read(self, root: Path) -> str:
        """The text of the file as of the revision.

        Raises:
            ConfigurationError: no git, no repository, no such revision, or no such file in it.
        """
        spec = f"{PREFIX}{self.revision}"
        _told(root, "rev-parse", "--git-dir", otherwise=f"{root} is no git repository; name a prompt file instead")
        commit = _told(
            root,
            *("rev-parse", "--verify", "--end-of-options", f"{self.revision}^{{commit}}"),
            otherwise=f"{spec}: no such revision; `git log --oneline` lists them",
        ).strip()
        missing = f"{spec}: there is no {self.path} in that revision"
        return _told(root, "cat-file", "blob", f"{commit}:./{self.path}", otherwise=missing)


def _told(root: Path, *words: str, otherwise: str) -> str:
    """What git prints; if it fails, the error says `otherwise`."""
    try:
        return git(root, *words).decode("utf-8")
    except NoGitError as error:
        raise ConfigurationError("git is not installed; name a prompt file instead of a revision") from error
    except DistrustError as error:
        raise ConfigurationError(f"{root}: {error}") from error
    except GitError as error:
        raise ConfigurationError(otherwise) from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{words[-1]}: not UTF-8 at byte {error.start}") from error
