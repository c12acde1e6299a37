"""Comparison of stored runs, value by value.

    python -m tests.compare_runs BEFORE AFTER [--rename FILE] [--ignore KEY]

BEFORE and AFTER are two `run.json` files, or two folders whose `run.json` files are paired by their path. Numbers are
equal within a relative difference of 1e-9. Values are found by the names on the way to them.

`--rename FILE` names a table of keys that have a new name: one pair a line, old name, tab, new name. A name of two
words joined by a dot (`verdict.exit_code`) is renamed only there. `--ignore KEY` leaves out a key with all below it
(repeatable); digests of code change with every move: `--ignore digests --ignore content_sha256`.

Exit codes: 0 no difference, 1 a difference, 2 wrong usage, or a file that cannot be read.
"""

import argparse
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

RELATIVE: Final = 1e-9
SHOWN: Final = 25
"""Differences that are printed of each pair of files."""

NAMES: Final = ("name", "id", "case_id", "case")
"""Keys by whose value an item of a list is named, the first that all items have, each with another value."""

Leaf = str | float | int | bool | None


class UnreadableError(Exception):
    """A file or a table that cannot be read; one line."""


def leaves(
    value: object, renamed: Mapping[str, str], ignored: frozenset[str], path: str = ""
) -> Iterator[tuple[str, Leaf]]:
    """Path of names -> value, for all that is no list and no mapping; an empty one is a value of its own."""
    match value:
        case dict() if value:
            for key, below in value.items():
                if key not in ignored:
                    yield from leaves(below, renamed, ignored, f"{path}.{_new_name(key, path, renamed)}")
        case list() if value:
            for name, below in zip(_names_of(value), value, strict=True):
                yield from leaves(below, renamed, ignored, f"{path}[{name}]")
        case dict() | list():
            yield path, "{}" if isinstance(value, dict) else "[]"
        case str() | float() | int() | bool() | None:
            yield path, value


def _new_name(key: str, path: str, renamed: Mapping[str, str]) -> str:
    parent = path.rpartition(".")[2].partition("[")[0]
    return renamed.get(f"{parent}.{key}", renamed.get(key, key))


def _names_of(items: list[object]) -> list[str]:
    """A name for each item: what identifies it if something does, else its number."""
    for key in NAMES:
        names = [item.get(key) if isinstance(item, dict) else None for item in items]
        if all(isinstance(name, str) for name in names) and len(set(names)) == len(names):
            return [f"{key}={name}" for name in names]
    return [str(number) for number in range(len(items))]


def differences(
    before: object, after: object, renamed: Mapping[str, str] | None = None, ignored: frozenset[str] = frozenset()
) -> list[str]:
    """One line for each value that differs or is on one side only; old names are renamed on the `before` side."""
    old, new = dict(leaves(before, renamed or {}, ignored)), dict(leaves(after, {}, ignored))
    lines = [f"{path}: only before: {old[path]!r}" for path in old.keys() - new.keys()]
    lines += [f"{path}: only after: {new[path]!r}" for path in new.keys() - old.keys()]
    lines += [
        f"{path}: {old[path]!r} became {new[path]!r}"
        for path in old.keys() & new.keys()
        if not _are_equal(old[path], new[path])
    ]
    return sorted(lines)


def _are_equal(old: Leaf, new: Leaf) -> bool:
    if (
        isinstance(old, bool)
        or isinstance(new, bool)
        or not isinstance(old, int | float)
        or not isinstance(new, int | float)
    ):
        return type(old) is type(new) and old == new
    return math.isclose(old, new, rel_tol=RELATIVE, abs_tol=0.0)


def paired(before: Path, after: Path) -> list[tuple[str, Path | None, Path | None]]:
    """Name of a run, and its file on each side (None: not there). Raises UnreadableError if there is none."""
    if before.is_file() and after.is_file():
        return [("run.json", before, after)]
    old, new = (
        {path.relative_to(side).as_posix(): path for path in side.rglob("run.json")} for side in (before, after)
    )
    if not old and not new:
        raise UnreadableError(f"{before}, {after}: no run.json below; name two runs or their folders")
    return [(name, old.get(name), new.get(name)) for name in sorted(old.keys() | new.keys())]


def read_names(path: Path | None) -> dict[str, str]:
    """The table of renamed keys. Raises UnreadableError."""
    if path is None:
        return {}
    try:
        pairs = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        return dict(pairs)
    except (OSError, ValueError) as error:
        raise UnreadableError(f"{path}: give old name, tab, new name on each line ({error})") from error


def _read(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnreadableError(f"{path}: is no JSON file that can be read ({error})") from error


def main(words: Sequence[str] | None = None) -> int:
    """Compare, print the differences, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.compare_runs", allow_abbrev=False)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--rename", type=Path, metavar="FILE")
    parser.add_argument("--ignore", action="append", default=[], metavar="KEY")
    asked = parser.parse_args(words)
    found, count = 0, 0
    try:
        renamed, pairs = read_names(asked.rename), paired(asked.before, asked.after)
        for name, old, new in pairs:
            if old is None or new is None:
                lines = [f"only {'after' if old is None else 'before'}"]
            else:
                stored = _read(old)
                lines = differences(stored, _read(new), renamed, frozenset(asked.ignore))
                count += sum(1 for _ in leaves(stored, {}, frozenset(asked.ignore)))
            found += len(lines)
            for line in lines[:SHOWN]:
                print(f"{name}{line if line.startswith(('.', '[')) else ': ' + line}")
            if len(lines) > SHOWN:
                print(f"{name}: and {len(lines) - SHOWN} more")
    except UnreadableError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{len(pairs)} runs, {count:,} values, {found} differences")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
