"""Foreign issues and their fixes, as SWE-bench, LocAgent and GitHub state them."""

import ast
import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isnan
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchedFile, PatchSet

from evals.errors import DatasetError

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """One row, and where it stands in its file, counted from 1: `3` is a line, `row 3` may span several."""

    where: str
    fields: Fields


@dataclass(frozen=True)
class BadRow:
    """A row that is no mapping of names to values."""

    where: str
    why: str


def read_rows(path: Path) -> Iterator[Row | BadRow]:
    """The rows of a file, in order.

    Raises:
        DatasetError: there is no such file, it is not UTF-8, it is empty, it is no JSON as a whole, or it is Parquet
            and there is no reader for that.
    """
    if not path.exists() or path.is_dir():  # a pipe such as /dev/stdin is no regular file, and welcome
        raise DatasetError(f"{path}: there is no such file")
    if path.suffix == ".parquet":
        return _parquet(path)
    text = _text(path)
    if not text.strip():
        raise DatasetError(f"{path}: is empty; there is nothing to read in it")
    if path.suffix == ".csv":
        return _csv(text)
    if path.suffix == ".json" or text.lstrip().startswith("["):
        return _json(path, text)
    return _json_lines(text)


def text_in(fields: Fields, key: str) -> str:
    """The text under `key` with plain line ends; empty if there is none."""
    value = fields.get(key)
    return value.replace("\r\n", "\n") if isinstance(value, str) else ""


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path}: cannot be read as UTF-8 text: {error}") from error


def _json(path: Path, text: str) -> Iterator[Row | BadRow]:
    try:
        read = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        if path.suffix != ".json" or (line > 1 and text.lstrip().startswith("{")):  # JSON Lines under another name
            return _json_lines(text)
        raise DatasetError(f"{path}:{line}: is not JSON: {error}") from error
    rows = read if isinstance(read, list) else [read]
    return (_row(f"row {number}", item) for number, item in enumerate(rows, 1))


def _json_lines(text: str) -> Iterator[Row | BadRow]:
    for number, line in enumerate(text.split("\n"), 1):  # not splitlines: U+2028 may stand inside a string
        if not line.strip():
            continue
        try:
            yield _row(str(number), json.loads(line))
        except (ValueError, RecursionError) as error:
            yield BadRow(str(number), f"is not JSON: {error}")


def _row(where: str, item: object) -> Row | BadRow:
    return Row(where, item) if isinstance(item, dict) else BadRow(where, f"is a {type(item).__name__}, no object")


def _csv(text: str) -> Iterator[Row | BadRow]:
    csv.field_size_limit(sys.maxsize)  # patches are longer than the 128 kB the library thinks enough
    reader = csv.DictReader(io.StringIO(text, newline=""))
    for number, fields in enumerate(reader, 1):
        whole = None not in fields and None not in fields.values()
        where = f"row {number}"
        yield Row(where, fields) if whole else BadRow(where, "has another number of columns than the first line")


def _parquet(path: Path) -> Iterator[Row | BadRow]:
    import pandas  # noqa: PLC0415, ICN001 - 0.5 s that no other format pays

    try:
        table = pandas.read_parquet(path)
    except ImportError as error:
        raise DatasetError(
            f"{path}: pyarrow is not installed; pip install 'triage-evals[parquet]', or save the rows as JSON Lines"
        ) from error
    except Exception as error:
        raise DatasetError(f"{path}: is no Parquet file that can be read: {error}") from error
    rows = ({str(name): row[name] for name in row.index if row[name] is not None} for _, row in table.iterrows())
    return (Row(f"row {number}", fields) for number, fields in enumerate(rows, 1))


Source = Literal["swebench", "locagent", "github"]


class RefusedRowError(Exception):
    """This row becomes no case; the message says why. The other rows go on."""


@dataclass(frozen=True)
class ForeignIssue:
    """One foreign issue. Only `text` is ever shown to an agent.

    `files` are where its fix changed code that was there before; `functions` are outermost definitions (`path::name`),
    and empty unless the source states them: a hunk header's context line is no proof. `whole_names` are the same by
    their dotted names. `base_commit` is the commit its fix was made to, as its source has it, and `patch` that fix;
    `commit` is the same where its code was taken in, else empty. `notes` is what a reader of the import should know.
    """

    row: str
    name: str
    repository: str
    text: str
    files: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    whole_names: tuple[str, ...] = ()
    base_commit: str = ""
    patch: str = ""
    commit: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refused:
    """A row that becomes no case, and why."""

    row: str
    name: str
    why: str


Reader = Callable[[str, Fields], ForeignIssue]
"""Takes where the row stands, and the row; may raise RefusedRowError."""


def issues_in(path: Path, read_issue: Reader) -> Iterator[ForeignIssue | Refused]:
    """What `read_issue` makes of each row. Raises DatasetError where no row can be read at all."""
    for row in read_rows(path):
        if isinstance(row, BadRow):
            yield Refused(row.where, "", row.why)
            continue
        try:
            yield read_issue(row.where, row.fields)
        except RefusedRowError as refusal:
            yield Refused(row.where, text_in(row.fields, "instance_id"), str(refusal))


def required(fields: Fields, key: str) -> str:
    """The text under `key`, edges trimmed of blank lines. Raises RefusedRowError if there is none."""
    text = text_in(fields, key).strip("\n")
    if not text.strip():
        raise RefusedRowError(f"has no {key}")
    return text


DEEPEST: Final = 3  # lists in lists; LocAgent has two
_FUNCTION: Final = re.compile(r"(?P<path>[^:]+)::?(?P<name>[^\W\d][\w.]*)")


def names_in(value: object) -> tuple[str, ...]:
    """All names, nested lists flattened; none for nothing. Raises ValueError if there is something else than names."""
    return tuple(_flat(literal(value)))


def function_of(text: str) -> tuple[str, str]:
    """Path and dotted name of `path::Class.method` or, as LocAgent writes it, `path:Class.method`.

    A trailing `.__init__` is dropped, as LocAgent's evaluation does: a constructor is its class. Raises ValueError.
    """
    match = _FUNCTION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no `path::name` or `path:name`")
    return match["path"], match["name"].removesuffix(".__init__")


def outermost(text: str) -> str:
    """`path::Class` of `path:Class.method`: how gold is labelled here. Raises ValueError."""
    path, name = function_of(text)
    return f"{path}::{name.partition('.')[0]}"


def literal(value: object) -> object:
    """What a text that looks like a list or mapping says, as JSON or as a Python literal; other text stays as it is.

    What Parquet makes of a list is a list again. Raises ValueError for a list that is neither.
    """
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, float) and isnan(value):
        return None  # what a table makes of an empty cell
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "(", "{")):
        return None if value in ("None", "null") else value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(f"is neither JSON nor a Python literal: {value[:40]!r}") from error


def _flat(read: object, depth: int = 0) -> Iterator[str]:
    if read is None or read == "":
        return
    if isinstance(read, str):
        yield read
    elif isinstance(read, list | tuple) and depth <= DEEPEST:
        for item in read:
            yield from _flat(item, depth + 1)
    else:
        raise ValueError(f"holds {type(read).__name__} where a name belongs")


NOWHERE: Final = "/dev/null"
_PREFIX: Final = re.compile(r"[abciow12]/")
_TEST_NAME: Final = re.compile(r"test_.*\.py|.*_tests?\.py|tests?\.py|conftest\.py")


@dataclass(frozen=True)
class ChangedFiles:
    """Files that were there before and were changed, sorted; and, per file that is left out, why."""

    files: tuple[str, ...]
    notes: tuple[str, ...]


def read_fix(patch: str, tests: Iterable[str] = ()) -> ChangedFiles:
    """The files a unified diff changed. `tests` are paths known to be tests; others are told by their names.

    Raises:
        RefusedRowError: the text is no diff, or names a path outside the repository.
    """
    if not patch.strip():
        raise RefusedRowError("its patch is empty: nothing says where the fault was")
    known_tests = frozenset(tests)
    files: set[str] = set()
    notes: list[str] = []
    for changed in parse(patch):
        path, reason = _judged(changed, known_tests)
        if reason is None:
            files.add(path)
        else:
            notes.append(f"{path}: {reason}")
    return ChangedFiles(tuple(sorted(files)), tuple(notes))


def paths_in(patch: str) -> frozenset[str]:
    """Every path a diff names, before and after. Raises RefusedRowError."""
    named = (name for changed in parse(patch) for name in (_before(changed), _after(changed)))
    return frozenset(name for name in named if name != NOWHERE)


def renames_in(patch: str) -> dict[str, str]:
    """Path before -> path after, of every file a diff renames. Raises RefusedRowError."""
    pairs = ((_before(changed), _after(changed)) for changed in parse(patch))
    return {before: after for before, after in pairs if before != after and NOWHERE not in (before, after)}


def parse(patch: str) -> PatchSet:
    """The diff, line ends made plain. Raises RefusedRowError where there is no file in it."""
    try:
        read = PatchSet.from_string(patch.replace("\r\n", "\n"))
    except UnidiffParseError as error:
        raise RefusedRowError(f"its patch is no whole diff: {str(error).splitlines()[0]}") from error
    if not read:
        raise RefusedRowError("its patch is no diff: no file is named in it")
    return read


def is_test(path: str) -> bool:
    """Whether the name alone says so: `tests/`, a leading `test/`, `test_x.py`, `x_test.py`, `conftest.py`.

    A `test` further down does not: django/test/client.py is what others test with.
    """
    parts = PurePosixPath(path).parts
    return "tests" in parts[:-1] or parts[:1] == ("test",) or _TEST_NAME.fullmatch(parts[-1]) is not None


def safe_path(path: str) -> str:
    """The path itself. Raises RefusedRowError if it could lead out of the repository."""
    if path.startswith(("/", "~")) or "\\" in path or ".." in path.split("/") or re.match(r"[A-Za-z]:", path):
        raise RefusedRowError(f"names a path outside the repository: {path!r}")
    return path


def _judged(changed: PatchedFile, tests: frozenset[str]) -> tuple[str, str | None]:
    """The path, and why it is not where the fault was; None if it is."""
    before, after = _before(changed), _after(changed)
    info = [line.strip() for line in changed.patch_info or ()]
    if before == NOWHERE or any(line.startswith("copy from ") for line in info):
        return after, "is new in the fix, so the fault was not in it"
    if changed.is_binary_file:
        return before, "is binary"
    if before in tests or after in tests or is_test(before):
        return before, "is a test"
    if any(mode == "160000" for mode in (changed.source_mode, changed.target_mode)):
        return before, "is a submodule"
    if not changed and before == after:
        return before, "only its mode changes"
    return before, None


def _before(changed: PatchedFile) -> str:
    return _path(changed.source_file, changed.target_file)


def _after(changed: PatchedFile) -> str:
    return _path(changed.target_file, changed.source_file)


def _path(name: str, other: str) -> str:
    """Without git's quotes and its prefix. A prefix differs on the two sides; a folder that is called `a` does not."""
    name, other = _unquoted(name), _unquoted(other)
    if name == NOWHERE:
        return name
    prefixed = _PREFIX.match(name) and (other == NOWHERE or (_PREFIX.match(other) and name[0] != other[0]))
    return safe_path(name[2:] if prefixed else name)


def _unquoted(name: str) -> str:
    r"""Git quotes a name that is not ASCII: "a/\303\274.py" is a/ü.py; the octets are UTF-8."""
    if not (len(name) > 1 and name.startswith('"') and name.endswith('"')):
        return name
    try:
        return bytes(ast.literal_eval(f"b{name}")).decode()
    except (ValueError, SyntaxError) as error:
        raise RefusedRowError(f"names a file in a way that cannot be read: {name}") from error


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
