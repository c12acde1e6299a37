"""Fault rankings and gold, read from rows of other tools."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from evals.errors import DatasetError
from evals.triage.dataset.importers.import_rows import BadRow, Fields, read_rows, text_in
from evals.triage.dataset.importers.imported_issue import (
    RefusedRowError,
    function_of,
    literal,
    outermost,
    read_fix,
    samples_in,
)
from evals.triage.root_cause_scorers import normalised

Level = Literal["file", "function", "whole name"]
Named = Mapping[Level, tuple[str, ...]]
Reader = Callable[[Fields, str], Named]

LEVELS: Final[tuple[Level, ...]] = ("file", "function", "whole name")


def read_gold(path: Path) -> dict[str, Named]:
    """What is to be found, by instance. Raises DatasetError (`path:line: …`) at the first row that is wrong."""
    return dict(_rows(path, _gold))


def read_predictions(path: Path, known: Iterable[str]) -> dict[str, Named]:
    """What was named, best first, by instance. Raises DatasetError, also for an instance that is not `known`."""
    expected = frozenset(known)

    def read(fields: Fields, name: str) -> Named:
        if name not in expected:
            raise RefusedRowError(f"predicts {name!r}, which the gold file does not have")
        return _predicted(fields)

    return dict(_rows(path, read))


def _rows(path: Path, read: Reader) -> Iterator[tuple[str, Named]]:
    seen: dict[str, str] = {}
    for row in read_rows(path):
        if isinstance(row, BadRow):
            raise DatasetError(f"{path}:{row.where}: {row.why}")
        try:
            name = _new_name(row.fields, seen)
            named = read(row.fields, name)
        except (RefusedRowError, ValueError) as error:
            raise DatasetError(f"{path}:{row.where}: {error}") from error
        seen[name] = row.where
        yield name, named


def _new_name(fields: Fields, seen: Mapping[str, str]) -> str:
    name = text_in(fields, "instance_id").strip()
    if not name:
        raise RefusedRowError("has no instance_id")
    if name in seen:
        raise RefusedRowError(f"is about {name!r}, as was {seen[name]}; keep one of them")
    return name


def _gold(fields: Fields, _name: str) -> Named:
    """Stated functions come before the patch: LocAgent's own evaluation reads files and functions off them alone."""
    if "edit_functions" in fields:
        functions = _list(fields, "edit_functions")
        return _levels([function_of(function)[0] for function in functions], functions, strict=True)
    if "files" in fields or "functions" in fields:
        stated = _list(fields, "functions") if "functions" in fields else None
        return _levels(_list(fields, "files") if "files" in fields else None, stated, strict=True)
    patch = text_in(fields, "patch")
    if not patch.strip():
        raise RefusedRowError("holds no gold: neither `edit_functions`, nor `files`, nor a `patch`")
    return _levels(read_fix(patch).files, None, strict=True)


def _predicted(fields: Fields) -> Named:
    if "found_files" in fields or "found_entities" in fields:
        return _found(fields)
    if "files" not in fields and "functions" not in fields:
        raise RefusedRowError("holds no prediction: neither `files` or `functions`, nor LocAgent's `found_files`")
    functions = _list(fields, "functions") if "functions" in fields else None
    return _levels(_list(fields, "files") if "files" in fields else None, functions, strict=False)


def _found(fields: Fields) -> Named:
    """LocAgent's lists; where there are several samples of one answer, its merge by summed reciprocal ranks."""
    named: dict[Level, tuple[str, ...]] = {}
    if "found_files" in fields:
        named["file"] = merged([[_path(file) for file in sample] for sample in _samples(fields, "found_files")])
    if "found_entities" in fields:
        samples = _samples(fields, "found_entities")
        named["whole name"] = merged([[_whole(name) for name in sample] for sample in samples])
        modules = _samples(fields, "found_modules") if "found_modules" in fields else samples
        named["function"] = merged([[_outermost(name) for name in sample] for sample in modules])
    return named


def merged(samples: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """One ranking of several: by the sum of 1 / rank, equal ones by first appearance; without repeats."""
    weights: defaultdict[str, float] = defaultdict(float)
    for sample in samples:
        for rank, name in enumerate(dict.fromkeys(sample), 1):
            weights[name] += 1 / rank
    return tuple(sorted(weights, key=lambda name: -weights[name]))


def _levels(files: Sequence[str] | None, functions: Sequence[str] | None, *, strict: bool) -> Named:
    """`strict` for gold: a function that cannot be read is an error there, and a wrong answer in a prediction."""
    named: dict[Level, tuple[str, ...]] = {}
    if files is not None:
        named["file"] = tuple(dict.fromkeys(_path(file) for file in files))
    if functions is not None:
        for function in functions if strict else ():
            function_of(function)
        named["function"] = tuple(dict.fromkeys(_outermost(function) for function in functions))
        named["whole name"] = tuple(dict.fromkeys(_whole(function) for function in functions))
    return named


def _path(file: str) -> str:
    return normalised(file.strip(), frozenset())


def _whole(function: str) -> str:
    try:
        path, name = function_of(function)
    except ValueError:
        return function
    return f"{_path(path)}::{name}"


def _outermost(function: str) -> str:
    whole = _whole(function)
    return outermost(whole) if "::" in whole else whole


def _list(fields: Fields, key: str) -> tuple[str, ...]:
    return tuple(name for sample in _samples(fields, key) for name in sample)


def _samples(fields: Fields, key: str) -> tuple[tuple[str, ...], ...]:
    try:
        return samples_in(_no_text(literal(fields.get(key))))
    except ValueError as error:
        raise RefusedRowError(f"`{key}` {error}") from error


def _no_text(read: object) -> object:
    if isinstance(read, str) and read:
        raise ValueError(f"is the text {read[:40]!r} where a list belongs")
    return read
