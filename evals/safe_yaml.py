"""Safe YAML reading: bounded size, no duplicate keys, errors with file and line."""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import yaml
from pydantic import BaseModel, ValidationError

from evals.errors import DatasetError, nearest_name

DEPTH: Final = 100
"""Levels; nothing this package reads has as many as 20."""
NODES: Final = 100_000
"""Of a document with aliases, once they are unfolded."""
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BUT_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
_OPENED: Final = re.compile(rb"[\[{]{%d}" % DEPTH)
_IN_BLOCKS: Final = ("- " * DEPTH, "? " * DEPTH, "\n" + " " * DEPTH)
_ALIAS: Final = re.compile(r"(?:^|[\s,\[{:-])\*[^\s*]")


def beyond_bounds(text: str, *, aliases: bool = True) -> tuple[int, str] | None:
    """The line at which a document goes too far, and how; None if it does not. Whether it is YAML is not said.

    Without `aliases` only its depth is looked at.
    """
    if _may_be_deep(text) or (aliases and _ALIAS.search(text)):
        try:
            return _looked_at(text)
        except yaml.YAMLError:
            return None  # the parser proper says what is wrong, and where
    return None


def _may_be_deep(text: str) -> bool:
    """Whether that many brackets open, or indents stand, one upon the other; those in texts count as well."""
    if any(levels in text for levels in _IN_BLOCKS):
        return True
    brackets = text.encode(errors="replace").translate(None, delete=_BUT_BRACKETS)
    return bool(_OPENED.search(brackets.replace(b"[]", b"").replace(b"{}", b"")))


def _looked_at(text: str) -> tuple[int, str] | None:
    """Event by event, without recursion. An open collection is its anchor and the nodes in it so far."""
    opened: list[tuple[str | None, int]] = []
    known: dict[str, int] = {}
    total = 0
    for event in yaml.parse(text, Loader=_LOADER):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.CollectionStartEvent):
            opened.append((event.anchor, total))
            total += 1
            if len(opened) > DEPTH:
                return line, f"nested more than {DEPTH} levels deep"
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = opened.pop()
            known |= {anchor: total - before} if anchor else {}
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in known:
                return line, f"the alias *{event.anchor} stands for nothing that ends before it"
            total += known[event.anchor]
        elif isinstance(event, yaml.ScalarEvent):
            known |= {event.anchor: 1} if event.anchor else {}
            total += 1
        if known and total > NODES:
            return line, f"more than {NODES:,} values once its aliases are unfolded"
    return None


def double_key(node: yaml.Node) -> tuple[int, str] | None:
    """The first key that stands twice in one mapping, with its line. Of a document within `yaml_bounds`."""
    for mapping in _mappings(node):
        seen: set[str] = set()
        for key, _ in mapping.value:
            name = str(key.value)
            if name in seen:
                return key.start_mark.line + 1, name
            seen.add(name)
    return None


def _mappings(node: yaml.Node) -> Iterator[yaml.MappingNode]:
    if isinstance(node, yaml.MappingNode):
        yield node
        for _, value in node.value:
            yield from _mappings(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _mappings(item)


Model = TypeVar("Model", bound=BaseModel)
Loc = Sequence[int | str]

LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml is 10x faster, but not in every build


def read_model(path: Path, model: type[Model]) -> Model:
    """The file as a `model`, types taken strictly: `yes` is no string, `"3"` no number.

    Raises DatasetError (`path:line: …`): the file is missing, is not YAML, is nested or unfolds without end, has a key
    twice, or does not fit.
    """
    return parse_model(path, read_text(path), model)


def parse_model(path: Path, text: str, model: type[Model]) -> Model:
    """The same for text already read from `path`; blank lines before it keep the line numbers true."""
    return cast("Model", _parsed(path, text, model))


@lru_cache(1024)
def _parsed(path: Path, text: str, model: type[BaseModel]) -> BaseModel:
    """Remembered by content: the process of the next `--watch` round has parsed what has not changed by then."""
    node = _node(path, text)
    _refuse_double_keys(path, node)
    try:
        return model.model_validate_json(_json(path, node), strict=True)
    except ValidationError as error:
        raise DatasetError(_complaint(path, node, error, model)) from error


def read_text(path: Path) -> str:
    """The file's text with plain line ends. Raises DatasetError if it is missing or not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise DatasetError(f"{path}: is missing; every case needs it") from error
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path}: cannot be read as UTF-8 text: {error}") from error


def decoded(path: Path, content: bytes) -> str:
    """The text in bytes that were read from `path`, line ends as they are. Raises DatasetError if it is not UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path}: cannot be read as UTF-8 text: {error}") from error


def line_of(path: Path, *loc: int | str) -> int:
    """The line on which the value at `loc` stands; the nearest enclosing key if there is none."""
    return _line(_node(path, read_text(path)), loc)


def _node(path: Path, text: str) -> yaml.Node:
    if too_far := beyond_bounds(text):
        raise DatasetError(f"{path}:{too_far[0]}: {too_far[1]}; write it plainly")
    try:
        node = yaml.compose(text, Loader=LOADER)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        raise DatasetError(f"{path}:{line}: is not YAML: {getattr(error, 'problem', error)}") from error
    if not isinstance(node, yaml.MappingNode):
        raise DatasetError(f"{path}:1: must be a mapping of keys to values")
    return node


def _json(path: Path, node: yaml.Node) -> str:
    loader = LOADER("")
    try:
        return json.dumps(loader.construct_document(node), default=_as_text)
    except (yaml.YAMLError, TypeError, ValueError) as error:
        raise DatasetError(f"{path}:1: holds a value that fits no label: {error}") from error
    finally:
        loader.dispose()


def _as_text(value: object) -> str:
    """A bare date is meant as the text it is written as."""
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"a {type(value).__name__} is no text, number or list; quote it")


def _refuse_double_keys(path: Path, node: yaml.Node) -> None:
    if double := double_key(node):
        raise DatasetError(f"{path}:{double[0]}: the key {double[1]!r} stands here twice")


def _complaint(path: Path, node: yaml.Node, error: ValidationError, model: type[BaseModel]) -> str:
    first, *more = sorted(error.errors(include_url=False), key=lambda each: each["type"] != "extra_forbidden")
    where = ".".join(str(part) for part in first["loc"])
    rest = f" (and {len(more)} more)" if more else ""
    told = str(first["ctx"]["error"]) if first["type"] == "value_error" else first["msg"]
    if first["type"] == "extra_forbidden":
        told = f"no such key{nearest_name(str(first['loc'][-1]), _keys_beside(model, first['loc']))}"
    return f"{path}:{_line(node, first['loc'])}: {where}: {told}{rest}"


def _keys_beside(model: type[BaseModel], loc: Loc) -> list[str]:
    """The keys that a mapping may have, of which one at `loc` is none."""
    defined: Any = model.model_json_schema(by_alias=True)
    schemas = defined.get("$defs", {})
    for part in (*loc[:-1], None):
        while "$ref" in defined or "anyOf" in defined:
            named = defined.get("$ref") or next((each["$ref"] for each in defined["anyOf"] if "$ref" in each), "")
            defined = schemas.get(named.rpartition("/")[2], {})
        if part is not None:
            inner = "items" if isinstance(part, int) else "additionalProperties"
            named = next(iter(defined.get("patternProperties", {}).values()), {})
            defined = defined.get("properties", {}).get(part) or defined.get(inner) or named
    return [*defined.get("properties", {})]


def _line(node: yaml.Node, loc: Loc) -> int:
    line = node.start_mark.line
    for part in loc:
        step = _step(node, part)
        if step is None:
            break
        line, node = step
    return int(line) + 1


def _step(node: yaml.Node, part: int | str) -> tuple[int, yaml.Node] | None:
    """One step down: the line on which the key (or item) stands, and its value."""
    value: Any = node.value
    if isinstance(node, yaml.MappingNode):
        return next(((key.start_mark.line, child) for key, child in value if key.value == str(part)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(value):
        return value[part].start_mark.line, value[part]
    return None
