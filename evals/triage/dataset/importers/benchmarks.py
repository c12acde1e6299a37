"""Importers of SWE-bench, LocAgent and GitHub issues."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from evals.triage.dataset.importers.import_rows import Fields, text_in
from evals.triage.dataset.importers.imported_issue import (
    ChangedFiles,
    ForeignIssue,
    Refused,
    RefusedRowError,
    function_of,
    is_test,
    issues_in,
    literal,
    names_in,
    outermost,
    paths_in,
    read_fix,
    required,
    safe_path,
)


def read_swebench(path: Path) -> Iterator[ForeignIssue | Refused]:
    """The issues of a file of rows. Raises DatasetError where no row can be read at all."""
    return issues_in(path, _issue)


def _issue(row: str, fields: Fields) -> ForeignIssue:
    tests, unread = _tests(text_in(fields, "test_patch"))
    text = required(fields, "problem_statement")
    fix = read_fix(text_in(fields, "patch"), tests)
    return ForeignIssue(
        row=row,
        name=required(fields, "instance_id").strip(),
        repository=required(fields, "repo").strip(),
        text=text,
        files=fix.files,
        base_commit=text_in(fields, "base_commit").strip(),
        patch=text_in(fields, "patch"),
        notes=(*fix.notes, *unread, *_about_proof(fields)),
    )


def _tests(patch: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """The paths its test patch names, and a remark where there are none to be had."""
    if not patch.strip():
        return frozenset(), ()
    try:
        return paths_in(patch), ()
    except RefusedRowError as refusal:
        return frozenset(), (f"test_patch: {refusal}; tests are told by their names alone",)


def _about_proof(fields: Fields) -> tuple[str, ...]:
    """FAIL_TO_PASS is text or a list and labels nothing; one that cannot be read is a hint that the row is damaged."""
    try:
        names_in(fields.get("FAIL_TO_PASS"))
    except ValueError as error:
        return (f"FAIL_TO_PASS {error}",)
    return ()


def read_locagent(path: Path) -> Iterator[ForeignIssue | Refused]:
    """The issues of a file of rows. Raises DatasetError where no row can be read at all."""
    return issues_in(path, _issue_locagent)


def _issue_locagent(row: str, fields: Fields) -> ForeignIssue:
    name = required(fields, "instance_id").strip()
    told = {**_meta_data(fields), **fields}
    if "found_files" in told and "problem_statement" not in told:
        raise RefusedRowError("holds a prediction and no issue")
    text = required(told, "problem_statement")
    functions = _edited(told)
    fix = _fix(told, functions)
    files = {*fix.files, *(function_of(function)[0] for function in functions)}
    return ForeignIssue(
        row=row,
        name=name,
        repository=required(told, "repo").strip(),
        text=text,
        files=tuple(sorted(files)),
        functions=tuple(sorted({outermost(function) for function in functions})),
        whole_names=tuple(sorted({"::".join(function_of(function)) for function in functions})),
        base_commit=text_in(told, "base_commit").strip(),
        patch=text_in(told, "patch"),
        notes=fix.notes,
    )


def _meta_data(fields: Fields) -> Mapping[str, object]:
    """Where an output row keeps the issue it is about; a mapping, or one written down as JSON or a Python literal."""
    try:
        kept = literal(fields.get("meta_data") or {})
    except ValueError as error:
        raise RefusedRowError(f"its meta_data {error}") from error
    if not isinstance(kept, Mapping):
        raise RefusedRowError("its meta_data is no mapping")
    return kept


def _edited(fields: Fields) -> tuple[str, ...]:
    """The functions its benchmark says were edited, tests left out."""
    try:
        names = names_in(fields.get("edit_functions"))
        paths = [function_of(name)[0] for name in names]
    except ValueError as error:
        raise RefusedRowError(f"edit_functions {error}") from error
    return tuple(name for name, path in zip(names, paths, strict=True) if not is_test(safe_path(path)))


def _fix(fields: Fields, functions: tuple[str, ...]) -> ChangedFiles:
    patch = text_in(fields, "patch")
    if not patch.strip() and functions:
        return ChangedFiles((), ("has no patch: the files are those of its edit_functions",))
    return read_fix(patch)


_URL: Final = re.compile(r"https?://[^/]+/(?P<repository>[^/]+/[^/]+)/(?P<kind>issues|pull)/(?P<number>\d+)")


def read_github(path: Path) -> Iterator[ForeignIssue | Refused]:
    """The issues of a file. Raises DatasetError where it cannot be read."""
    return issues_in(path, _issue_github)


def _issue_github(row: str, fields: Fields) -> ForeignIssue:
    title = " ".join(required(fields, "title").split())
    where = _URL.match(required(fields, "url").strip())
    if where is None:
        raise RefusedRowError("its url is not that of an issue, so its repository is not known")
    if where["kind"] == "pull":
        raise RefusedRowError("is a pull request: it holds the answer, not the question")
    return ForeignIssue(
        row=row,
        name=f"{where['repository']}#{where['number']}",
        repository=where["repository"],
        text=f"{title}\n\n{text_in(fields, 'body').strip()}\n",
        notes=("no gold: an issue does not say where the fault is",),
    )
