"""The members of a cassette file, validated, and YAML read with line numbers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import Field, Strict

from evals.errors import CassetteError
from evals.gc_pause import uncollected
from evals.models.base import Closed
from evals.safe_yaml import beyond_bounds

MAX_MODEL: Final = 200
"""Characters of a model's name; the longest names in use have some 80."""
MAX_WORD: Final = 500
"""Characters of an answer's id and of what else it names itself by; ids in use have some 40."""
MAX_TOKENS: Final = 10_000_000
"""Tokens of one request or answer: the largest context window that any model has."""
MAX_ANSWERS: Final = 16_000_000
"""Bytes of all answers of one cassette. The largest cassette recorded has 0.8 MB as a whole; each write reads and
checks all of it, so the cost grows with the square of this."""

_WORDS: Final = {"model": MAX_MODEL, "id": MAX_WORD, "system_fingerprint": MAX_WORD, "service_tier": MAX_WORD}
_COUNTS: Final = ("prompt_tokens", "completion_tokens", "total_tokens", "input_tokens", "output_tokens")


def excess(answer: Mapping[str, Any]) -> str:
    """What an answer says of itself that cannot be kept, in a few words; empty where nothing is wrong."""
    for name, limit in _WORDS.items():
        word = answer.get(name)
        if isinstance(word, str) and len(word) > limit:
            return f"{name} of {len(word):,} characters, where {limit} is the limit"
    usage = answer.get("usage")
    counts = usage if isinstance(usage, Mapping) else {}
    for name in _COUNTS:
        count = counts.get(name)
        if count is not None and not _is_count(count):
            return f"usage.{name} that is no whole number from 0 to {MAX_TOKENS:,}"
    return ""


def too_many(sizes: Iterable[int]) -> int | None:
    """The index of the answer with which these sizes (bytes) exceed `MAX_ANSWERS`; None if they do not."""
    total = 0
    for index, size in enumerate(sizes):
        total += size
        if total > MAX_ANSWERS:
            return index
    return None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_TOKENS


Headers = dict[Literal["content-type"], Annotated[tuple[str, ...], Field(min_length=1, max_length=1)]]


Count = Annotated[int, Strict(), Field(ge=0)]
"""`true` is none, though Python takes it for 1."""
Tokens = Annotated[int, Strict(), Field(ge=0, le=MAX_TOKENS)]


class Usage(Closed):
    """Tokens as the server counted them; 0 where it did not say."""

    prompt_tokens: Tokens = 0
    completion_tokens: Tokens = 0


class Meta(Closed):
    """`x_meta`: what VCR has no place for. `latency_ms` and `recorded_at` (ISO 8601, UTC) are of the recording."""

    key: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    agent: Annotated[str, Field(min_length=1)]
    sample: Count = 0
    model: Annotated[str, Field(max_length=MAX_MODEL)]
    recorded_at: str
    latency_ms: Annotated[float, Strict(), Field(ge=0)] = 0.0
    usage: Usage
    response_sha256: str
    recorded_by: str | None = None


class RequestPart(Closed):
    """A request; `body` is JSON text."""

    method: str
    uri: str
    body: str
    headers: Headers


class Status(Closed):
    """Only success is ever recorded."""

    code: Annotated[int, Strict(), Field(ge=200, le=299)]
    message: str


class BodyPart(Closed):
    """VCR wraps the response text in a mapping."""

    string: str


class ResponsePart(Closed):
    """An answer; `body.string` is JSON text."""

    status: Status
    headers: Headers
    body: BodyPart


class CassetteEntry(Closed):
    """One interaction as the file spells it."""

    request: RequestPart
    response: ResponsePart
    x_meta: Meta


class ReplayHeader(Closed):
    """The file's own account of itself."""

    schema_: Annotated[Count, Field(alias="schema")]
    count: Count
    canonicalisation: Count


class Document(Closed):
    """A whole file."""

    x_replay: ReplayHeader
    interactions: tuple[CassetteEntry, ...]
    version: Literal[1]


TEXT: Final = "tag:yaml.org,2002:str"
TUPLE: Final = "tag:yaml.org,2002:python/tuple"
_MAPPING: Final = "tag:yaml.org,2002:map"
_LIST: Final = "tag:yaml.org,2002:seq"


@dataclass(frozen=True)
class InPieces:
    """A text said in pieces, in their order; the file may have put anything in their place."""

    pieces: tuple[object, ...]


def plain(text: str, path: Path) -> dict[str, Any]:
    """The file's YAML as mappings, lists, scalars and `InPieces`, whatever its schema. Raises CassetteError."""
    if too_far := beyond_bounds(text, aliases=False):
        raise CassetteError(path, f"{too_far[1]}: not written by a recorder; restore the file", too_far[0])
    try:
        with uncollected():
            data = _read(text)
    except yaml.YAMLError as error:
        problem = getattr(error, "problem", None) or "a character that no text holds"
        message = f"not YAML, truncated or joined by hand ({problem}); restore the file"
        raise CassetteError(path, message, _line_of_fault(error, text)) from None
    if not isinstance(data, dict):
        raise CassetteError(path, "not a cassette: the top level is no mapping (an empty file?)", 1)
    return data


def line_of(text: str, location: Sequence[int | str]) -> int:
    """The 1-based line of the deepest node on the way to `location`, as in `("interactions", 3, "request")`."""
    node = yaml.compose(text, Loader=yaml.CSafeLoader)
    line = 1
    for step in location:
        below = _child(node, step)
        if below is None:
            break
        node = below
        line = int(node.start_mark.line) + 1
    return line


def _child(node: yaml.Node | None, step: int | str) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == step), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        found: yaml.Node = node.value[step]
        return found
    return None


def _line_of_fault(error: yaml.YAMLError, text: str) -> int:
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        return int(mark.line) + 1
    return text.count("\n", 0, getattr(error, "position", 0)) + 1  # a ReaderError counts characters


def _read(text: str) -> Any:  # noqa: ANN401 - YAML
    """What libyaml's safe loader makes of a document, in half of its time: cassettes are what a run reads most of."""
    loader = yaml.CSafeLoader(text)
    try:
        node = loader.get_single_node()
        return None if node is None else _value(node, loader, {})
    finally:
        loader.dispose()


def _value(node: yaml.Node, loader: yaml.CSafeLoader, known: dict[yaml.Node, Any]) -> Any:  # noqa: ANN401 - YAML
    """The value of a node; `known` are those of nodes that have been met, as aliases stand for the same node again."""
    if isinstance(node, yaml.ScalarNode):
        try:
            return node.value if node.tag == TEXT else loader.construct_object(node)
        except ValueError as error:  # tagged as a number or a date, and none
            raise yaml.MarkedYAMLError(None, None, str(error), node.start_mark) from error
    if node in known:
        if known[node] is None:
            raise yaml.MarkedYAMLError(None, None, "an alias stands for what it is in", node.start_mark)
        return known[node]
    known[node] = None
    found: Any
    if node.tag == _MAPPING:
        if other := next((key for key, _ in node.value if not isinstance(key, yaml.ScalarNode)), None):
            raise yaml.MarkedYAMLError(None, None, "a key is no text", other.start_mark)
        found = {_value(key, loader, known): _value(value, loader, known) for key, value in node.value}
        if len(found) < len(node.value):
            names = [key.value for key, _ in node.value]
            double = next(key for at, (key, _) in enumerate(node.value) if key.value in names[:at])
            raise yaml.MarkedYAMLError(None, None, f"the key {double.value!r} stands here twice", double.start_mark)
    elif node.tag in (_LIST, TUPLE):
        found = [_value(item, loader, known) for item in node.value]
        found = found if node.tag == _LIST else InPieces(tuple(found))
    else:
        raise yaml.MarkedYAMLError(None, None, f"the tag {node.tag!r} stands in no cassette", node.start_mark)
    known[node] = found
    return found
