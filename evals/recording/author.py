"""Who answers for a recording: the name that is kept with every answer."""

from pathlib import Path

from evals.cassette.allowed_secrets import FILE, read_allowed
from evals.cassette.redact import scan
from evals.errors import ConfigurationError
from evals.workspace import Workspace
from triage.git import GitError, git


def author(given: str | None, workspace: Workspace) -> str:
    """The name given, else git's.

    Raises:
        ConfigurationError: it looks like a secret, an e-mail address for one. No answer could be written under it, and
            that would be said of each after it was paid for.
    """
    name = given or git_user(workspace.root)
    try:
        name.encode()
    except UnicodeEncodeError as error:
        source = "--recorded-by" if given else "git's user.name"
        raise ConfigurationError(f"{source}: no text in UTF-8; give a plain name with --recorded-by") from error
    if found := scan(name, allowed=read_allowed(workspace.cassettes / FILE)):
        source = "--recorded-by" if given else "git's user.name"
        raise ConfigurationError(
            f"{source}: {found[0].rule}, which no cassette may hold; give a plain name with --recorded-by, or allow "
            f"sha256 {found[0].sha256} in cassettes/{FILE}"
        )
    return name


def git_user(root: Path) -> str:
    """The name git would put under a commit made at `root`; "unnamed" where it knows none."""
    try:
        name = git(root, "config", "user.name")
    except GitError:
        return "unnamed"
    return name.decode("utf-8", errors="surrogateescape").strip() or "unnamed"
