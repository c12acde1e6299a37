"""Checks of a JSON value: what a case expects of a field of the output or of a tool's arguments, found by its path."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Self

from pydantic import Field, JsonValue, model_validator

from evals.models.base import Closed

Path = tuple[str | int, ...]
MISSING: Final = object()
"""What a path leads to where there is nothing."""
_STEP: Final = re.compile(r"\.?([^.\[\]]+)|\[(-?\d+)\]")


class Near(Closed):
    """A number that may be off by `within`."""

    value: float
    within: Annotated[float, Field(ge=0)] = 0.0


class Expected(Closed):
    """What one value must be; every check that is given counts. `subset`: a mapping or list that the value has at
    least; `set`: the items of a list, in any order."""

    equal: JsonValue = None
    contains: tuple[str, ...] = ()
    regex: str | None = None
    number: Near | None = None
    subset: dict[str, JsonValue] | list[JsonValue] | None = None
    items: Annotated[list[JsonValue] | None, Field(alias="set")] = None

    @property
    def written(self) -> dict[str, Any]:
        """As the case's file has it."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

    @model_validator(mode="after")
    def _checks_something(self) -> Self:
        given = self.model_fields_set
        if (
            not given
            or (given == {"contains"} and not self.contains)
            or "" in self.contains
            or any(getattr(self, name) is None for name in given - {"equal"})
        ):
            raise ValueError("checks nothing; write equal, contains, regex, number, subset or set")
        return self


def path_of(text: str) -> Path:
    """The steps of a path such as `items[0].sku`. Raises ValueError for a text that is none."""
    steps: list[str | int] = []
    place = 0
    while place < len(text):
        found = _STEP.match(text, place)
        if found is None or (not steps and found[0].startswith(".")):
            break
        steps.append(found[1] if found[2] is None else int(found[2]))
        place = found.end()
    if not steps or place < len(text) or isinstance(steps[0], int):
        raise ValueError(f"{text!r} is no path; write it as in items[0].sku")
    return tuple(steps)


def value_at(value: Any, path: Path) -> Any:  # noqa: ANN401 - JSON
    """The value that a path leads to, or MISSING. A text on the way is read as JSON."""
    for step in path:
        if isinstance(value, str):
            value = _json(value)
        if isinstance(step, str):
            value = value.get(step, MISSING) if isinstance(value, Mapping) else MISSING
        else:
            is_there = isinstance(value, list) and -len(value) <= step < len(value)
            value = value[step] if is_there else MISSING
    return value


def checks(expected: Expected, value: Any) -> list[bool]:  # noqa: ANN401 - JSON
    """Whether each check holds for a value, in the order of the fields of `Expected`; none does for MISSING."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    found = [_same(value, expected.equal)] if "equal" in expected.model_fields_set else []
    found += [part.casefold() in text.casefold() for part in expected.contains]
    if expected.regex is not None:
        found.append(re.search(expected.regex, text) is not None)
    if expected.number is not None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        found.append(is_number and abs(value - expected.number.value) <= expected.number.within)
    if expected.subset is not None:
        found.append(_has(value, expected.subset))
    if expected.items is not None:
        is_as_long = isinstance(value, list) and len(value) == len(expected.items)
        found.append(is_as_long and all(_times(x, value) == _times(x, expected.items) for x in expected.items))
    return [False] * len(found) if value is MISSING else found


def _has(value: Any, part: JsonValue) -> bool:  # noqa: ANN401 - JSON
    """Whether a value has all of a part: members of a mapping by name, items of a list in any order."""
    if isinstance(part, dict):
        return isinstance(value, Mapping) and all(_has(value.get(name, MISSING), each) for name, each in part.items())
    if isinstance(part, list):
        return isinstance(value, list) and _each_in_its_own(part, value)
    return _same(value, part)


def _each_in_its_own(parts: list[JsonValue], values: list[Any]) -> bool:
    """Whether every part finds a value that has it and that no other part needs (bipartite matching)."""
    taken_by: dict[int, int] = {}

    def finds(part: int, tried: set[int]) -> bool:
        for place, value in enumerate(values):
            if place not in tried and _has(value, parts[part]):
                tried.add(place)
                if place not in taken_by or finds(taken_by[place], tried):
                    taken_by[place] = part
                    return True
        return False

    return len(parts) <= len(values) and all(finds(part, set()) for part in range(len(parts)))


def _times(item: JsonValue, items: list[Any]) -> int:
    return sum(_same(each, item) for each in items)


def _same(value: Any, other: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether two JSON values are equal: 1 and 1.0 are, 1 and true are not, which Python takes for equal."""
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(_same(each, other[name]) for name, each in value.items())
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(_same, value, other))
    return bool(value == other) and isinstance(value, bool) == isinstance(other, bool)


def _json(text: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(text)
    except ValueError:
        return MISSING
