"""`evals dataset new --from-git`: a fixed bug of one's own repository becomes a case."""

import shutil
from pathlib import Path

from evals.cassette.allowed_secrets import FILE as ALLOWED_FILE
from evals.cassette.allowed_secrets import allowed_beside
from evals.cassette.redact import scan
from evals.dataset.checks.files import MARK
from evals.dataset.checks.proof import repro_proves_the_bug
from evals.dataset.clone import Clone, clone_at
from evals.dataset.commits import Commits
from evals.dataset.finding import Subject
from evals.dataset.fix import FixedBug, fixed_bug
from evals.dataset.from_git import refuse_archetype, write_case
from evals.dataset.git import GitError
from evals.dataset.layout import Layout
from evals.dataset.load import load_case, read_issue
from evals.dataset.policy import load_policy
from evals.dataset.scaffold import known_archetype, refuse_id
from evals.errors import EXIT_OK, ConfigurationError
from evals.report.inert import visible
from evals.workspace import Workspace


def new_from_git(
    case_id: str,
    repo: Path,
    revision: str,
    root: Path,
    dataset: Path | None,
    *,
    issue: Path | None,
    repro: Path | None,
    repository: str | None,
    archetype: str | None,
) -> int:
    """Write the case, take the code on both sides of the fix into the cache, say what a person has to do. Returns 0.

    Raises:
        ConfigurationError: no issue is given, the id is taken, the commit is no fix of code, the issue holds a secret,
            or the repro does not tell the two commits apart; no case is written.
        DatasetError: the issue cannot be read.
    """
    workspace = Workspace.at(root, dataset)
    layout, kind = Layout(workspace.datasets), known_archetype(archetype or "local_bug")
    refuse_archetype(kind)
    refuse_id(layout, case_id)
    if issue is None:
        raise ConfigurationError("--from-git needs --issue FILE: what the reporter wrote, its first line the title")
    text = _issue_text(issue, workspace.cassette(case_id))
    if repro is not None and not repro.is_file():
        raise ConfigurationError(f"--repro {repro}: there is no such file")
    clone = clone_at(repo)
    bug = fixed_bug(clone, revision, repository)
    _take(clone, bug, Commits.below(workspace.cache))
    written = write_case(layout, case_id, bug, kind, text, repro)
    _refuse_unproved(case_id, layout, workspace.cache)
    for path in written:
        print(path.relative_to(workspace.root).as_posix() if path.is_relative_to(workspace.root) else path)
    for note in bug.notes:
        print(visible(f"no gold: {note}"))
    print(f"fill in every {MARK}; then: evals dataset lint --case {case_id}")
    return EXIT_OK


def _issue_text(path: Path, cassette: Path) -> str:
    """The issue, looked through for secrets as whatever enters the dataset from outside."""
    title, body = read_issue(path)
    for found in scan({"title": title, "body": body}, allowed=allowed_beside(cassette))[:1]:
        raise ConfigurationError(
            f"{path}: {found.rule} at {found.json_path}: no secret enters the dataset, nothing was written; "
            f"if it is none, allow sha256 {found.sha256} in cassettes/{ALLOWED_FILE}"
        )
    return f"# {title}\n\n{body}\n"


def _take(clone: Clone, bug: FixedBug, commits: Commits) -> None:
    try:
        for commit in (bug.base, bug.fix):
            commits.take(clone, commit)
    except GitError as error:
        raise ConfigurationError(f"{clone.folder}: lacks files of these commits; fetch them there") from error


def _refuse_unproved(case_id: str, layout: Layout, cache: Path) -> None:
    """A repro that shows nothing is no proof: the case goes again."""
    subject = Subject(load_case(layout.root, case_id, load_policy(layout.policy)), layout, cache)
    for complaint in repro_proves_the_bug(subject):
        shutil.rmtree(layout.labels(case_id).parent)
        raise ConfigurationError(f"--repro: {complaint.message}; no case was written")
