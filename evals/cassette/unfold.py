"""Bodies made whole again from the pieces a file says once; nothing in it is believed because of its name.

A piece is a text whose name is its digest, and some body uses it. No piece holds another, and there is a bound on what
all bodies may come to: a small file cannot stand for more than a machine can hold.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from evals.cassette.layout import JSON, OK
from evals.cassette.sharing import is_name_of
from evals.cassette.yaml_text import InPieces, line_of
from evals.errors import CassetteError

MEMBER: Final = "x_shared"
LIMIT: Final = 2**28
"""Characters of all bodies of one file together; the largest case recorded has some 2 million."""
_RESTORE: Final = "edited or merged by hand; restore the file"
_ALWAYS: Final[dict[str, Any]] = {
    "json": {name: list(values) for name, values in JSON.items()},
    "ok": OK.model_dump(),
}


def unfolded(data: Mapping[str, Any], text: str, path: Path) -> dict[str, Any]:
    """The file's data without `x_shared`, every request with its body as one text. Raises CassetteError."""
    pieces = _pieces(data.get(MEMBER), text, path)
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
                raise CassetteError(path, f"{cause}: {_RESTORE}", line_of(text, _place(index)))
            used.update(map(id, parts))
            entry = entry | {"request": entry["request"] | {"body": "".join(parts)}}  # noqa: PLW2901 - made whole
        whole.append(entry)
    for name, piece in pieces.items():
        if id(piece) not in used:
            raise CassetteError(path, f"no request uses piece {name}: {_RESTORE}", line_of(text, (MEMBER, name)))
    return {name: value for name, value in data.items() if name != MEMBER} | {"interactions": whole}


def _pieces(shared: object, text: str, path: Path) -> dict[str, str]:
    if not isinstance(shared, dict) or any(shared.get(name) != value for name, value in _ALWAYS.items()):
        raise CassetteError(path, f"{MEMBER} lacks what every file shares: {_RESTORE}", line_of(text, (MEMBER,)))
    pieces = {name: piece for name, piece in shared.items() if name not in _ALWAYS}
    for name, piece in pieces.items():
        if not isinstance(piece, str) or not is_name_of(name, piece):
            message = f"piece {str(name)[:20]!r} is not what its name says: {_RESTORE}"
            raise CassetteError(path, message, line_of(text, (MEMBER, name)))
    return pieces


def _listed(data: Mapping[str, Any]) -> list[Any]:
    """The interactions, whatever they are: their shape is looked at once they are whole."""
    found = data.get("interactions")
    return found if isinstance(found, list) else []


def _body_of(entry: object) -> object:
    request = entry.get("request") if isinstance(entry, dict) else None
    return request.get("body") if isinstance(request, dict) else None


def _place(index: int) -> tuple[str | int, ...]:
    return "interactions", index, "request", "body"
