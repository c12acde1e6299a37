"""Cassette files to entries and back: VCR version-1 YAML in which repeated bodies stand once."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from evals.cassettes.cassette_schema import CassetteEntry, Document, Headers, InPieces, Meta, Status, line_of, plain
from evals.cassettes.package_line_references import MEMBER
from evals.cassettes.request_key import CANONICALISATION
from evals.errors import CassetteError

_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_TEXT: Final = re.compile(r'(\s*(?:"[^"\\]*": )?")([^"\\]*(?:\\.[^"\\]*)*)(",?\n)')
"""A line that holds a text: what comes before it, the text as JSON spells it, and what closes it."""
_PROMPT_LINE: Final = re.compile(r"(?:[^\\]+|\\(?:[^n]|\Z))+(?:\\n)*|(?:\\n)+")
_NEW_MEMBER: Final = (' "', "  {")  # of the body itself, or an element of its messages or tools


def cut(body: str) -> list[str]:
    """The body's smallest pieces, in their order; joined they are the body."""
    pieces: list[str] = []
    structure = ""
    for line in _LINE.findall(body):
        text = _TEXT.fullmatch(line) if "\\n" in line else None
        if text:
            pieces += [structure + text[1], *_PROMPT_LINE.findall(text[2])]
            structure = text[3]
        elif structure and line.startswith(_NEW_MEMBER):
            pieces.append(structure)
            structure = line
        else:
            structure += line
    return [*pieces, structure] if structure else pieces


def prompt_lines(text: str) -> list[str]:
    r"""The text in lines as people wrote them: cut after each break, spelled `\n` by JSON or real."""
    return [line for part in _LINE.findall(text) for line in _PROMPT_LINE.findall(part)]


_DEFINITION: Final = 30  # characters a shared piece costs besides its text: two names, quotes, indentation
_ALIAS: Final = 12
_QUOTES: Final = 8  # of a text that is said in its place
_DIGITS: Final = (8, 16, 64)

Pair = tuple[str, str]


@dataclass(frozen=True)
class SharedBodies:
    """Bodies in pieces, and the names of those that are said once, sorted by name."""

    bodies: tuple[tuple[str, ...], ...]
    names: Mapping[str, str]


def shared(bodies: Sequence[str]) -> SharedBodies:
    """The pieces of these bodies; joined, each row of pieces is its body."""
    rows = [cut(body) for body in bodies]
    while joins := _worth_joining(rows):
        rows = [_joined(row, joins) for row in rows]
    said = Counter(chain.from_iterable(rows))
    return SharedBodies(
        tuple(map(tuple, rows)), _named([text for text, times in said.items() if _is_shared(text, times)])
    )


def name_of(piece: str, digits: int = _DIGITS[0]) -> str:
    """What a piece is called: its content's digest, so that no other piece's coming or going renames it."""
    return "p" + hashlib.sha256(piece.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


def is_name_of(name: str, piece: str) -> bool:
    """Whether the name is one this piece may have."""
    return any(name == name_of(piece, digits) for digits in _DIGITS)


def _named(texts: Sequence[str]) -> dict[str, str]:
    """Text -> name; longer names for all where two would be called alike."""
    for digits in _DIGITS:
        names = {text: name_of(text, digits) for text in texts}
        if len(set(names.values())) == len(names):
            break
    return dict(sorted(names.items(), key=lambda item: item[1]))


def _worth_joining(rows: Sequence[Sequence[str]]) -> dict[Pair, str]:
    """Neighbours to join now, and the pieces they become; no piece is in two, so that each saves what it says."""
    said = Counter(chain.from_iterable(rows))
    pairs = Counter(chain.from_iterable(map(pairwise, rows)))
    savings = [(_saved(pair, times, said), pair) for pair, times in pairs.items() if times > 1 and pair[0] != pair[1]]
    joins: dict[Pair, str] = {}
    taken: set[str] = set()
    for _, pair in sorted((found for found in savings if found[0] > 0), key=lambda found: (-found[0], found[1])):
        if taken.isdisjoint(pair):
            taken.update(pair)
            joins[pair] = "".join(pair)
    return joins


def _saved(pair: Pair, times: int, said: Mapping[str, int]) -> int:
    apart = sum(_cost(text, said[text]) - _cost(text, said[text] - times) for text in pair)
    return apart - _cost("".join(pair), times)


def _cost(text: str, times: int) -> int:
    """About how long a file gets by a piece that stands in it so often."""
    if _is_shared(text, times):
        return len(text) + _DEFINITION + times * _ALIAS
    return times * (len(text) + _QUOTES)


def _is_shared(text: str, times: int) -> bool:
    return times > 1 and len(text) + _DEFINITION + times * _ALIAS < times * (len(text) + _QUOTES)


def _joined(row: Sequence[str], joins: Mapping[Pair, str]) -> list[str]:
    found: list[str] = []
    for piece in row:
        whole = joins.get((found[-1], piece)) if found else None
        if whole is None:
            found.append(piece)
        else:
            found[-1] = whole
    return found


JSON: Final[Headers] = {"content-type": ("application/json",)}
OK: Final = Status(code=200, message="OK")
UNFIT: Final = re.compile("[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
"""What libyaml would leave the block style for, or read as a line break: controls, DEL, NEL, surrogates and all beyond
the basic plane (emoji), LS, PS, BOM, non-characters."""


def laid_out(header: Mapping[str, int], entries: Sequence[CassetteEntry], tree: str | None = None) -> str:
    """The file's text, the same for the same entries."""
    found = shared([entry.request.body for entry in entries])
    return "".join(_lines(header, entries, found, tree))


def _lines(
    header: Mapping[str, int], entries: Sequence[CassetteEntry], found: SharedBodies, tree: str | None
) -> Iterator[str]:
    yield "x_replay:\n"
    yield from (f"  {name}: {value}\n" for name, value in header.items())
    yield from (f"x_released: {name}\n" for name in [tree] if name)
    yield f"x_shared:\n json: &json {_flow(JSON)}\n ok: &ok {_flow(OK.model_dump())}\n"
    yield from (f" {name}: &{name} {_piece(text)}" for text, name in found.names.items())
    yield "interactions:\n" if entries else "interactions: []\n"
    for entry, pieces in zip(entries, found.bodies, strict=True):
        yield from _interaction(entry, pieces, found.names)
    yield "version: 1\n"


def _interaction(entry: CassetteEntry, pieces: Sequence[str], names: Mapping[str, str]) -> Iterator[str]:
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


PIECE_MEMBER: Final = "x_shared"
LIMIT: Final = 2**28
"""Characters of all bodies of one file together; the largest case recorded has some 2 million."""
_RESTORE: Final = "edited or merged by hand; restore the file"
_ALWAYS: Final[dict[str, Any]] = {
    "json": {name: list(values) for name, values in JSON.items()},
    "ok": OK.model_dump(),
}


def unfolded(data: Mapping[str, Any], text: str, path: Path) -> dict[str, Any]:
    """The file's data without `x_shared`, every request with its body as one text. Raises CassetteError."""
    pieces = _pieces(data.get(PIECE_MEMBER), text, path)
    used: set[int] = set()
    length = 0
    whole = []
    for index, entry in enumerate(_listed(data)):
        body = _body_of(entry)
        if isinstance(body, InPieces):
            parts = [piece for piece in body.pieces if isinstance(piece, str)]
            length += sum(map(len, parts))
            if len(parts) != len(body.pieces) or length > LIMIT:
                cause = "a piece of the body is no text" if length <= LIMIT else "the bodies are longer than any case's"
                raise CassetteError(
                    path, f"{cause}: {_RESTORE}", line_of(text, ("interactions", index, "request", "body"))
                )
            used.update(map(id, parts))
            entry = entry | {"request": entry["request"] | {"body": "".join(parts)}}  # noqa: PLW2901 - made whole
        whole.append(entry)
    for name, piece in pieces.items():
        if id(piece) not in used:
            raise CassetteError(path, f"no request uses piece {name}: {_RESTORE}", line_of(text, (PIECE_MEMBER, name)))
    return {name: value for name, value in data.items() if name != PIECE_MEMBER} | {"interactions": whole}


def _pieces(shared: object, text: str, path: Path) -> dict[str, str]:
    if not isinstance(shared, dict) or any(shared.get(name) != value for name, value in _ALWAYS.items()):
        raise CassetteError(
            path, f"{PIECE_MEMBER} lacks what every file shares: {_RESTORE}", line_of(text, (PIECE_MEMBER,))
        )
    pieces = {name: piece for name, piece in shared.items() if name not in _ALWAYS}
    for name, piece in pieces.items():
        if not isinstance(piece, str) or not is_name_of(name, piece):
            message = f"piece {str(name)[:20]!r} is not what its name says: {_RESTORE}"
            raise CassetteError(path, message, line_of(text, (PIECE_MEMBER, name)))
    return pieces


def _listed(data: Mapping[str, Any]) -> list[Any]:
    """The interactions, whatever they are: their shape is looked at once they are whole."""
    found = data.get("interactions")
    return found if isinstance(found, list) else []


def _body_of(entry: object) -> object:
    request = entry.get("request") if isinstance(entry, dict) else None
    return request.get("body") if isinstance(request, dict) else None


SCHEMA: Final = 2
_NAME: Final = re.compile(r"[A-Za-z0-9][\w.!+-]*")
_TREE: Final = re.compile(rb"^x_released: (\S+)$", re.MULTILINE)
_CONFLICT: Final = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})(?: |$)", re.MULTILINE)


def json_text(value: Mapping[str, Any]) -> str:
    """Indented JSON for a literal block: readable in any script, and free of what would break the block."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    return UNFIT.sub(lambda match: json.dumps(match.group())[1:-1], text) + "\n"


def digest(body: str) -> str:
    """Sha256 (hex) of a body as stored: an answer changed by hand is no longer what a model said."""
    return hashlib.sha256(body.encode()).hexdigest()


def render(entries: Sequence[CassetteEntry], tree: str | None = None) -> str:
    """The file's text, the same for the same entries; `tree` is the released package that requests refer to."""
    header = {"schema": SCHEMA, "count": len(entries), "canonicalisation": CANONICALISATION}
    return laid_out(header, entries, tree)


def tree_named(content: bytes) -> str | None:
    """The released package that a file, which was read before, refers to."""
    found = _TREE.search(content)
    return found[1].decode() if found else None


def parse(text: str, path: Path) -> tuple[tuple[CassetteEntry, ...], str | None]:
    """The entries of a file's text, and the released package their requests refer to.

    Raises CassetteError with file, line and cause."""
    conflict = _CONFLICT.search(text)
    if conflict:
        line = text.count("\n", 0, conflict.start()) + 1
        raise CassetteError(path, "merge-conflict marker: keep one side, then record what is missing", line)
    data = plain(text, path)
    _readable_version(data, text, path)
    tree = data.pop(MEMBER, None)
    if tree is not None and not (isinstance(tree, str) and _NAME.fullmatch(tree)):
        raise CassetteError(path, f"{MEMBER} is no package's name: edited by hand; restore the file", 1)
    return shaped(unfolded(data, text, path), text, path), tree


def shaped(data: Mapping[str, Any], text: str, path: Path) -> tuple[CassetteEntry, ...]:
    """The entries in a file's plain data; `text` is where it came from. Raises CassetteError like `parse`."""
    try:
        document = Document.model_validate(data)
    except ValidationError as error:
        raise _shape_error(error, text, path) from None  # pydantic's own text repeats bodies
    if not text.endswith("\n"):
        raise CassetteError(path, "truncated: the last line is not complete; restore the file", text.count("\n") + 1)
    if document.x_replay.count != len(document.interactions):
        message = f"x_replay.count says {document.x_replay.count}, the file holds {len(document.interactions)}: "
        raise CassetteError(
            path, message + "edited or merged by hand; restore it", line_of(text, ("x_replay", "count"))
        )
    return document.interactions


def _readable_version(data: Mapping[str, Any], text: str, path: Path) -> None:
    """A newer file says so itself, before its unknown members are taken for mistakes."""
    header = data.get("x_replay")
    if not isinstance(header, dict):
        raise CassetteError(path, "no x_replay header: not written by this recorder, or truncated", 1)
    for name, known, older in (
        ("schema", SCHEMA, "run `evals cassette tidy`"),
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
