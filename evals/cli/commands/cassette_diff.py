"""`evals cassette diff`: what came, went, or was answered anew between two cassettes or two revisions of one."""

from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.text import Text

from evals.cassette.changes import Change, changes, described
from evals.cassette.migrations import read_any
from evals.cassette.store import Cassette
from evals.cli.terminal.console import VisibleConsole
from evals.errors import EXIT_OK, ConfigurationError
from evals.pipeline.recorded import below, path_of, recorded
from evals.workspace import Workspace
from triage.git import GitError, NoGitError, git

_COLOURS = {"+": "green", "-": "red"}


def diff(before: str, after: str, root: Path, console: Console | None = None, *, dataset: Path | None = None) -> int:
    """Print every change. Returns 0, whether there are any or not.

    Raises:
        ConfigurationError: there is no such file, case or revision.
        CassetteError: a side cannot be trusted.
    """
    old, new = _sides(before, after, Workspace.at(root, dataset))
    console = console or VisibleConsole(highlight=False, soft_wrap=True)
    found = changes(old, new)
    for change in found:
        heading, *lines = described(change)
        console.print(Text(heading, style="bold"))
        for line in lines:
            console.print(Text(f"  {line}", style=_COLOURS.get(line[:1], "")))
    console.print(_summary(found))
    return EXIT_OK


def _sides(before: str, after: str, workspace: Workspace) -> tuple[Cassette, Cassette]:
    """Two files, or a case at a revision and now, or at two revisions (`REV..REV`)."""
    if Path(before).is_file():
        return recorded(before, workspace), recorded(after, workspace)
    old, two, new = before.partition("..")
    path = path_of(after, workspace)
    now = _at(new or "HEAD", path, workspace) if two else recorded(after, workspace)
    return _at(old or "HEAD", path, workspace), now


def _at(revision: str, path: Path, workspace: Workspace) -> Cassette:
    """The cassette as a revision has it; empty if that has none."""
    name = below(path.resolve(), workspace).as_posix()
    wanted = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    commit = _told(workspace, *wanted, about=revision).decode().strip()
    called = Path(f"{revision}:{name}")
    if not _told(workspace, "ls-tree", "--name-only", commit, "--", name, about=revision):
        return Cassette(called, exists=False)
    return read_any(_told(workspace, "cat-file", "blob", f"{commit}:./{name}", about=revision), called)


def _told(workspace: Workspace, *words: str, about: str) -> bytes:
    try:
        return git(workspace.root, *words)
    except NoGitError as error:
        raise ConfigurationError("git is not on the path; name two cassette files instead") from error
    except GitError as error:
        cause = str(error) if error.said else "no such commit"
        raise ConfigurationError(
            f"{about}: neither a cassette file nor a revision ({cause}); name one of them"
        ) from error


def _summary(found: list[Change]) -> str:
    if not found:
        return "nothing differs"
    counted = Counter(change.kind for change in found)
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counted.items()))
