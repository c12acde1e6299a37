"""The shape of a cassette file: stock VCR version-1 YAML, written so that people and libyaml both like it.

    x_replay: {schema: 1, count: N, canonicalisation: 1}      # first: what this file claims to hold
    interactions:
    - request: {method, uri, body: | JSON, headers: {content-type: [...]}}
      response: {status: {code, message}, headers: {...}, body: {string: | JSON}}
      x_meta: {key, agent, sample, model, recorded_at, latency_ms, usage, response_sha256, recorded_by?}
    version: 1                                                # last: a file cut anywhere has lost this line

Extra members stand only where stock vcrpy and pytest-recording ignore them.
"""

import gc
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import Field, ValidationError

from evals.cassette.key import CANONICALISATION
from evals.errors import CassetteError
from evals.models.closed import Closed

SCHEMA: Final = 1
Headers = dict[Literal["content-type"], Annotated[tuple[str, ...], Field(min_length=1, max_length=1)]]
# Everything libyaml would leave the block style for, or read as a line break: controls, DEL, NEL, surrogates and
# all beyond the basic plane (emoji), LS, PS, BOM, non-characters.
_UNFIT_FOR_A_BLOCK: Final = re.compile("[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
_CONFLICT: Final = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})(?: |$)", re.MULTILINE)


class Usage(Closed):
    """Tokens as the server counted them; 0 where it did not say."""

    prompt_tokens: Annotated[int, Field(ge=0)] = 0
    completion_tokens: Annotated[int, Field(ge=0)] = 0


class Meta(Closed):
    """`x_meta`: what VCR has no place for. `latency_ms` and `recorded_at` (ISO 8601, UTC) are of the recording."""

    key: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    agent: Annotated[str, Field(min_length=1)]
    sample: Annotated[int, Field(ge=0)]
    model: str
    recorded_at: str
    latency_ms: Annotated[float, Field(ge=0)]
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

    code: Annotated[int, Field(ge=200, le=299)]
    message: str


class BodyPart(Closed):
    """VCR wraps the response text in a mapping."""

    string: str


class ResponsePart(Closed):
    """An answer; `body.string` is JSON text."""

    status: Status
    headers: Headers
    body: BodyPart


class Entry(Closed):
    """One interaction as the file spells it."""

    request: RequestPart
    response: ResponsePart
    x_meta: Meta


class Replay(Closed):
    """The file's own account of itself."""

    schema_: Annotated[int, Field(alias="schema")]
    count: Annotated[int, Field(ge=0)]
    canonicalisation: int


class Document(Closed):
    """A whole file."""

    x_replay: Replay
    interactions: tuple[Entry, ...]
    version: Literal[1]


def json_text(value: Mapping[str, Any]) -> str:
    """Indented JSON for a literal block: readable in any script, and free of what would break the block."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    return _UNFIT_FOR_A_BLOCK.sub(lambda match: json.dumps(match.group())[1:-1], text) + "\n"


def digest(body: str) -> str:
    """Sha256 (hex) of a body as stored: an answer changed by hand is no longer what a model said."""
    return hashlib.sha256(body.encode()).hexdigest()


def render(entries: Sequence[Entry]) -> str:
    """The file's text, the same for the same entries."""
    header = {"schema": SCHEMA, "count": len(entries), "canonicalisation": CANONICALISATION}
    interactions = [entry.model_dump(mode="json", exclude_none=True) for entry in entries]
    document = {"x_replay": header, "interactions": interactions, "version": 1}
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=2**30)


def parse(text: str, path: Path) -> tuple[Entry, ...]:
    """The entries of a file's text. Raises CassetteError with file, line and cause."""
    conflict = _CONFLICT.search(text)
    if conflict:
        line = text.count("\n", 0, conflict.start()) + 1
        raise CassetteError(path, "merge-conflict marker: keep one side, then record what is missing", line)
    data = plain(text, path)
    _readable_version(data, text, path)
    return shaped(data, text, path)


def shaped(data: Mapping[str, Any], text: str, path: Path) -> tuple[Entry, ...]:
    """The entries in a file's plain data; `text` is where it came from. Raises CassetteError like `parse`."""
    try:
        document = Document.model_validate(data)
    except ValidationError as error:
        raise _shape_error(error, text, path) from None  # pydantic's own text repeats bodies
    if not text.endswith("\n"):
        raise CassetteError(path, "truncated: the last line is not complete; restore the file", _last(text))
    if document.x_replay.count != len(document.interactions):
        message = f"x_replay.count says {document.x_replay.count}, the file holds {len(document.interactions)}: "
        raise CassetteError(
            path, message + "edited or merged by hand; restore it", line_of(text, ("x_replay", "count"))
        )
    return document.interactions


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


def plain(text: str, path: Path) -> dict[str, Any]:
    """The file's YAML as mappings, lists and scalars, whatever its schema. Raises CassetteError."""
    try:
        with _without_gc():
            data = yaml.load(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        problem = getattr(error, "problem", None) or "a character that no text holds"
        message = f"not YAML, or truncated ({problem}); restore the file"
        raise CassetteError(path, message, _line_of_fault(error, text)) from None
    if not isinstance(data, dict):
        raise CassetteError(path, "not a cassette: the top level is no mapping (an empty file?)", 1)
    return data


def _line_of_fault(error: yaml.YAMLError, text: str) -> int:
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        return int(mark.line) + 1
    return text.count("\n", 0, getattr(error, "position", 0)) + 1  # a ReaderError counts characters


def _readable_version(data: Mapping[str, Any], text: str, path: Path) -> None:
    """A newer file says so itself, before its unknown members are taken for mistakes."""
    header = data.get("x_replay")
    if not isinstance(header, dict):
        raise CassetteError(path, "no x_replay header: not written by this recorder, or truncated", 1)
    for name, known, older in (
        ("schema", SCHEMA, "run `evals cassette migrate`"),
        ("canonicalisation", CANONICALISATION, "record the file again"),
    ):
        found = header.get(name)
        if isinstance(found, int) and found != known:
            advice = "update this package" if found > known else older
            line = line_of(text, ("x_replay", name))
            raise CassetteError(path, f"x_replay.{name} is {found}, this version reads {known}: {advice}", line)


def _shape_error(error: ValidationError, text: str, path: Path) -> CassetteError:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(step) for step in first["loc"])
    cause = "truncated, or edited by hand" if first["type"] == "missing" else "edited by hand"
    return CassetteError(path, f"{where}: {first['msg']} ({cause}); restore the file", line_of(text, first["loc"]))


def _last(text: str) -> int:
    return text.count("\n") + 1


@contextmanager
def _without_gc() -> Iterator[None]:
    """A load makes many containers and frees none: collecting meanwhile only costs time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Dumper(yaml.CSafeDumper):
    """Safe, and without anchors; texts of more than one line become literal blocks."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - libyaml's signature
        return True


def _represent_text(dumper: yaml.CSafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)
