"""What a fix says about where the fault was: the files it changed, under the names they had before it.

Read by `unidiff`; functions are not read off hunk headers, whose context line is often the definition above.
"""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchedFile, PatchSet

from evals.dataset.importers.found import RefusedRowError

NOWHERE: Final = "/dev/null"
_PREFIX: Final = re.compile(r"[abciow12]/")
_TEST_NAME: Final = re.compile(r"test_.*\.py|.*_tests?\.py|tests?\.py|conftest\.py")


@dataclass(frozen=True)
class Fix:
    """Files that were there before and were changed, sorted; and, per file that is left out, why."""

    files: tuple[str, ...]
    notes: tuple[str, ...]


def read_fix(patch: str, tests: Iterable[str] = ()) -> Fix:
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
    return Fix(tuple(sorted(files)), tuple(notes))


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
