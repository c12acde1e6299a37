"""SWE-bench and its relatives: one row per issue, with the fix as `patch` and its tests as `test_patch`.

What only the fix's author knew (`hints_text`, `FAIL_TO_PASS`, `PASS_TO_PASS`, both patches) is read for the labels or
not at all; an agent sees the problem statement.
"""

from collections.abc import Iterator
from pathlib import Path

from evals.dataset.importers.diff import paths_in, read_fix
from evals.dataset.importers.found import Issue, Refused, RefusedRowError
from evals.dataset.importers.issues import issues_in, required
from evals.dataset.importers.names import names_in
from evals.dataset.importers.rows import Fields, text_in


def read(path: Path) -> Iterator[Issue | Refused]:
    """The issues of a file of rows. Raises DatasetError where no row can be read at all."""
    return issues_in(path, _issue)


def _issue(row: str, fields: Fields) -> Issue:
    tests, unread = _tests(text_in(fields, "test_patch"))
    text = required(fields, "problem_statement")
    fix = read_fix(text_in(fields, "patch"), tests)
    return Issue(
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
