"""Importer of BugsInPy folders."""

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from evals.errors import DatasetError
from evals.triage.dataset.importers.imported_issue import ForeignIssue, Refused, RefusedRowError, read_fix

INFO: Final = "bug.info"
PATCH: Final = "bug_patch.txt"
NO_TEXT: Final = "no issue text: the report only says which test fails"
_REPOSITORY: Final = re.compile(r"(?:https?://|git@)[^/:]+[/:](?P<repository>[^/]+/[^/]+?)(?:\.git)?/?")


def read(path: Path) -> Iterator[ForeignIssue | Refused]:
    """The bugs below a folder: the whole collection, one project, or one bug.

    Raises:
        DatasetError: there is no such folder, or no bug in it.
    """
    if not path.is_dir():
        raise DatasetError(f"{path}: there is no such folder; name a BugsInPy checkout, one project, or one bug")
    bugs = sorted({file.parent for name in (INFO, PATCH) for file in path.rglob(name)}, key=_by_number)
    if not bugs:
        raise DatasetError(f"{path}: holds no {INFO} anywhere; name a BugsInPy checkout, one project, or one bug")
    return (_read_bug(bug.resolve()) for bug in bugs)


def _read_bug(bug: Path) -> ForeignIssue | Refused:
    project = bug.parent.parent
    row = name = f"{project.name}-{bug.name}"
    try:
        return _issue(row, bug, project)
    except RefusedRowError as refusal:
        return Refused(row, name, str(refusal))


def _issue(row: str, bug: Path, project: Path) -> ForeignIssue:
    info = settings(_text(bug / INFO))
    repository = _REPOSITORY.fullmatch(settings(_text(project / "project.info")).get("github_url", ""))
    if repository is None:
        raise RefusedRowError("its project.info has no github_url that names a repository")
    test_files = info.get("test_file", "").split(";")
    patch = _text(bug / PATCH)
    fix = read_fix(patch, [file.strip() for file in test_files])
    return ForeignIssue(
        row=row,
        name=row,
        repository=repository["repository"],
        text=_report(_text(bug / "run_test.sh")),
        files=fix.files,
        base_commit=info.get("buggy_commit_id", "").strip(),
        patch=patch,
        is_code=True,
        notes=(*fix.notes, NO_TEXT),
    )


def settings(text: str) -> Mapping[str, str]:
    """The `key="value"` lines of a shell file; other lines are not looked at, and nothing is executed."""
    found = {}
    for line in text.splitlines():
        key, equals, value = line.strip().partition("=")
        if equals and key.isidentifier():
            found[key] = " ".join(_words(value))
    return found


def _report(script: str) -> str:
    """Title and body from the test command. Raises RefusedRowError if there is none."""
    commands = [line.strip() for line in script.splitlines() if line.strip() and not line.startswith("#")]
    if not commands:
        raise RefusedRowError("its run_test.sh is empty, and there is no other text to report the bug with")
    test = next((word for word in reversed(_words(commands[0])) if not word.startswith("-")), commands[0])
    listed = "\n".join(f"    {command}" for command in commands)
    return f"{test} fails\n\nThis fails:\n\n{listed}\n"


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:  # an open quote
        return text.replace('"', " ").split()


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError as error:
        raise RefusedRowError(f"has no {path.name}") from error
    except UnicodeDecodeError as error:
        raise RefusedRowError(f"its {path.name} is not UTF-8") from error


def _by_number(bug: Path) -> tuple[str, int, str]:
    number = int(bug.name) if bug.name.isdigit() else 0
    return str(bug.parent), number, bug.name
