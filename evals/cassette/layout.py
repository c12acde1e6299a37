r"""A cassette as text: stock VCR version-1 YAML that says once what its requests say again and again.

    x_replay: {schema: 2, count: N, canonicalisation: 1}      # first: what this file claims to hold
    x_released: NAME                                          # of a case on a released package: see `borrowed`
    x_shared:                                                 # what recurs, by name; pieces are named by content
     json: &json {content-type: [application/json]}
     ok: &ok {code: 200, message: OK}
     p1f2e3d4c: &p1f2e3d4c "You lead a team ...\\n\          # one line of the prompt, one line here
      who acts next ..."
    interactions:
    - request: {method, uri, headers: *json, body: !!python/tuple [*p1f2e3d4c, "said in its place", ...]}
      response: {status: *ok, headers: *json, body: {string: | JSON}}
      x_meta: {key, agent, sample?, model, recorded_at, latency_ms?, usage, response_sha256, recorded_by?}
    version: 1                                                # last: a file cut anywhere has lost this line

Stock vcrpy takes a tuple for a body that was sent in parts, and joins it. A body that shares nothing is one text.
Written by hand rather than by libyaml, which would wrap, quote and number anchors in ways of its own.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from evals.cassette.cut import prompt_lines
from evals.cassette.entry import Entry, Headers, Meta, Status
from evals.cassette.sharing import Shared, shared

JSON: Final[Headers] = {"content-type": ("application/json",)}
OK: Final = Status(code=200, message="OK")
UNFIT: Final = re.compile("[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
"""What libyaml would leave the block style for, or read as a line break: controls, DEL, NEL, surrogates and all beyond
the basic plane (emoji), LS, PS, BOM, non-characters."""


def laid_out(header: Mapping[str, int], entries: Sequence[Entry], tree: str | None = None) -> str:
    """The file's text, the same for the same entries."""
    found = shared([entry.request.body for entry in entries])
    return "".join(_lines(header, entries, found, tree))


def _lines(header: Mapping[str, int], entries: Sequence[Entry], found: Shared, tree: str | None) -> Iterator[str]:
    yield "x_replay:\n"
    yield from (f"  {name}: {value}\n" for name, value in header.items())
    yield from (f"x_released: {name}\n" for name in [tree] if name)
    yield f"x_shared:\n json: &json {_flow(JSON)}\n ok: &ok {_flow(OK.model_dump())}\n"
    yield from (f" {name}: &{name} {_piece(text)}" for text, name in found.names.items())
    yield "interactions:\n" if entries else "interactions: []\n"
    for entry, pieces in zip(entries, found.bodies, strict=True):
        yield from _interaction(entry, pieces, found.names)
    yield "version: 1\n"


def _interaction(entry: Entry, pieces: Sequence[str], names: Mapping[str, str]) -> Iterator[str]:
    request, response = entry.request, entry.response
    yield f"- request:\n   method: {_scalar(request.method)}\n   uri: {_scalar(request.uri)}\n"
    yield f"   headers: {_headers(request.headers)}\n   body: {_body(request.body, pieces, names)}"
    status = "*ok" if response.status == OK else _flow(response.status.model_dump())
    yield f"  response:\n   status: {status}\n   headers: {_headers(response.headers)}\n"
    yield f"   body:\n    string: {_block(response.body.string, 5)}"
    yield f"  x_meta: {_flow(_meta(entry.x_meta))}\n"


def _meta(meta: Meta) -> dict[str, Any]:
    """What goes without saying is left out: the first sample, a latency nobody measured, no name."""
    return meta.model_dump(exclude_defaults=True) | {"usage": meta.usage.model_dump()}


def _headers(headers: Headers) -> str:
    return "*json" if headers == JSON else _flow(headers)


def _body(body: str, pieces: Sequence[str], names: Mapping[str, str]) -> str:
    """Names stand beside each other, a text that is said here begins on a line of its own."""
    if names.keys().isdisjoint(pieces):
        return _block(body, 4)
    said = [
        ", ".join(f"*{names[piece]}" for piece in group) if is_shared else _quoted("".join(group), 4)
        for is_shared, group in groupby(pieces, key=names.__contains__)
    ]
    first, *rest = said
    return f"!!python/tuple [{first}" + "".join((", " if text[0] == "*" else ",\n    ") + text for text in rest) + "]\n"


def _piece(text: str) -> str:
    """Structure stands as JSON lays it out; a text with more lines than the JSON around it stands line by line."""
    is_structure = text.count("\n") > text.count("\\n") and not UNFIT.search(text)
    return _block(text, 2) if is_structure else _quoted(text, 2) + "\n"


def _block(text: str, indent: int) -> str:
    """A literal block; its text has no character that a block cannot hold."""
    margin = " " * indent
    body = text.rstrip("\n")
    ends = len(text) - len(body)
    chomping = "-" if not ends else "" if ends == 1 else "+"
    hint = "1" if text[:1] in {" ", "\n"} else ""
    lines = "".join(f"{margin}{line}\n" if line else "\n" for line in body.split("\n"))
    return f"|{hint}{chomping}\n{lines}" + "\n" * (ends - 1)


def _quoted(text: str, indent: int) -> str:
    """Double quotes; the text's own lines are lines here too, since an escaped line break stands for nothing."""
    first, *rest = [_escaped(line) for line in prompt_lines(text)] or [""]
    margin = "\\\n" + " " * indent
    return '"' + first + "".join(margin + ("\\" + line if line[:1] == " " else line) for line in rest) + '"'


def _escaped(text: str) -> str:
    spelled = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return UNFIT.sub(lambda match: f"\\U{ord(match.group()):08X}", spelled)


def _flow(value: Mapping[Any, Any]) -> str:
    return "{" + ", ".join(f"{name}: {_scalar(member)}" for name, member in value.items()) + "}"


def _scalar(value: object) -> str:
    """One value on one line; words are bare where YAML would not take them for anything else."""
    if isinstance(value, Mapping):
        return _flow(value)
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(_scalar, value)) + "]"
    if isinstance(value, str):
        return value if _BARE.fullmatch(value) else f'"{_escaped(value)}"'
    return json.dumps(value)


_BARE: Final = re.compile(r"POST|OK|application/json|http://recorded\.invalid[a-z0-9/_]*")
