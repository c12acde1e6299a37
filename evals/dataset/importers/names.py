"""Lists of names as they are met in rows: real lists, their JSON text, or their Python literals; and what they name."""

import ast
import json
import re
from collections.abc import Iterator
from math import isnan
from typing import Final

DEEPEST: Final = 3  # lists in lists; LocAgent has two
_FUNCTION: Final = re.compile(r"(?P<path>[^:]+)::?(?P<name>[^\W\d][\w.]*)")


def names_in(value: object) -> tuple[str, ...]:
    """All names, nested lists flattened; none for nothing. Raises ValueError if there is something else than names."""
    return tuple(_flat(literal(value)))


def samples_in(value: object) -> tuple[tuple[str, ...], ...]:
    """A list of lists, one per sample of an answer; a plain list is the only sample. Raises ValueError."""
    read = literal(value)
    if isinstance(read, list | tuple) and read and all(isinstance(item, list | tuple) for item in read):
        return tuple(tuple(_flat(item)) for item in read)
    return (tuple(_flat(read)),)


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
