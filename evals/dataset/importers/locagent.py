"""LocAgent: rows of its benchmark (`edit_functions` beside the SWE-bench fields), or of its output (`meta_data`).

What LocAgent *found* is a prediction and never becomes gold; `evals score-localisation` scores it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from evals.dataset.importers.diff import Fix, is_test, read_fix, safe_path
from evals.dataset.importers.found import Issue, Refused, RefusedRowError
from evals.dataset.importers.issues import issues_in, required
from evals.dataset.importers.names import function_of, literal, names_in, outermost
from evals.dataset.importers.rows import Fields, text_in


def read(path: Path) -> Iterator[Issue | Refused]:
    """The issues of a file of rows. Raises DatasetError where no row can be read at all."""
    return issues_in(path, _issue)


def _issue(row: str, fields: Fields) -> Issue:
    name = required(fields, "instance_id").strip()
    told = {**_meta_data(fields), **fields}
    if "found_files" in told and "problem_statement" not in told:
        raise RefusedRowError("holds a prediction and no issue; score it with `evals score-localisation`")
    text = required(told, "problem_statement")
    functions = _edited(told)
    fix = _fix(told, functions)
    files = {*fix.files, *(function_of(function)[0] for function in functions)}
    return Issue(
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


def _fix(fields: Fields, functions: tuple[str, ...]) -> Fix:
    patch = text_in(fields, "patch")
    if not patch.strip() and functions:
        return Fix((), ("has no patch: the files are those of its edit_functions",))
    return read_fix(patch)
