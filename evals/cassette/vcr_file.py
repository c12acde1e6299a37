"""A cassette file's text to entries and back. How it is laid out stands in `layout`, what it may hold in `entry`."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from evals.cassette.borrowed import MEMBER
from evals.cassette.entry import Document, Entry
from evals.cassette.key import CANONICALISATION
from evals.cassette.layout import UNFIT, laid_out
from evals.cassette.unfold import unfolded
from evals.cassette.yaml_text import line_of, plain
from evals.errors import CassetteError

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


def render(entries: Sequence[Entry], tree: str | None = None) -> str:
    """The file's text, the same for the same entries; `tree` is the released package that requests refer to."""
    header = {"schema": SCHEMA, "count": len(entries), "canonicalisation": CANONICALISATION}
    return laid_out(header, entries, tree)


def tree_named(content: bytes) -> str | None:
    """The released package that a file, which was read before, refers to."""
    found = _TREE.search(content)
    return found[1].decode() if found else None


def parse(text: str, path: Path) -> tuple[tuple[Entry, ...], str | None]:
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
