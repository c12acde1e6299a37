"""The code of imported issues, taken from clones."""

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from evals.shared.git_command import GitError
from evals.triage.dataset.commit_code import Commits, take_in
from evals.triage.dataset.gold_labels import Edited, edited
from evals.triage.dataset.importers.imported_issue import ForeignIssue, Refused, renames_in
from evals.triage.dataset.repository_clones import Clone, Clones, NoCodeError, git

SHOWN = 3
"""Names that a remark gives before it only counts."""


def attached(
    found: Iterable[ForeignIssue | Refused], clones: Clones | None, cache: Path
) -> Iterator[ForeignIssue | Refused]:
    """Each issue with its code, as far as there is a clone below `clones`; what has none is as it was, and says so."""
    for one in found:
        if isinstance(one, Refused):
            yield one
        else:
            yield one if clones is None else _attached(one, clones, cache)


def _attached(issue: ForeignIssue, clones: Clones, cache: Path) -> ForeignIssue:
    if not issue.base_commit:
        return replace(issue, notes=(*issue.notes, "without its code: its source names no commit"))
    try:
        commit = take_in(issue.repository, issue.base_commit, clones, cache)
    except NoCodeError as error:
        return replace(issue, notes=(*issue.notes, f"without its code: {error}"))
    kept = Clone(Commits.below(cache).folder)
    issue = replace(issue, commit=commit)
    issue = replace(issue, notes=(*issue.notes, *_missing(issue, kept), *_left_out(commit, cache)))
    return issue if issue.functions else _derived(issue, kept)


def _missing(issue: ForeignIssue, kept: Clone) -> Iterator[str]:
    absent = [path for path in issue.files if kept.text(issue.commit, path) is None]
    if absent:
        yield f"{_some(absent)}: gold, but not in the code at {issue.commit[:12]}"


def _left_out(commit: str, cache: Path) -> Iterator[str]:
    left = Commits.below(cache).left_out(commit)
    if left.submodules:
        yield f"submodules, whose code is not here: {_some(left.submodules)}"
    if left.pointers:
        yield f"kept by git-lfs, so that only pointers are here: {_some(left.pointers)}"


def _derived(issue: ForeignIssue, kept: Clone) -> ForeignIssue:
    """With the functions that its patch edits, read off the code by AST."""
    try:
        found = _edited(issue, kept)
    except GitError as error:
        return replace(issue, notes=(*issue.notes, f"functions not derived: {error}"))
    return replace(issue, functions=found.functions, whole_names=found.whole_names)


def _edited(issue: ForeignIssue, kept: Clone) -> Edited:
    """Raises GitError where the patch does not apply to the code."""
    before = {path: kept.text(issue.commit, path) for path in issue.files}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        for path, text in before.items():
            if text is not None:
                place = folder / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(text.encode("utf-8", "surrogateescape"))
        moved = _applied(issue, folder)
        after = {path: _text(folder / moved.get(path, path)) for path in before}
    return edited({path: (text, after[path]) for path, text in before.items() if text is not None})


def _applied(issue: ForeignIssue, folder: Path) -> dict[str, str]:
    """Apply the parts of the patch that are about gold; returns what it renames, old path to new."""
    moved = renames_in(issue.patch)
    wanted = sorted({*issue.files, *(moved[path] for path in issue.files if path in moved)})
    words = ("--whitespace=nowarn", *(f"--include={_escaped(path)}" for path in wanted))
    try:
        git(folder, "apply", *words, given=f"{issue.patch}\n".encode())
    except GitError as error:
        raise GitError(f"its patch does not apply to {issue.commit[:12]}") from error
    return moved


def _escaped(path: str) -> str:
    """The path as a pattern that only it fits."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape") if path.is_file() else ""


def _some(names: Iterable[str]) -> str:
    told = sorted(names)
    more = f" and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
    return f"{', '.join(told[:SHOWN])}{more}"
