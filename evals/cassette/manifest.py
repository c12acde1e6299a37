"""`cassettes/manifest.jsonl`: what the committed cassettes are, one line per file, sorted by name.

A cassette accounts for itself (count, keys, digests of answers). What no file can say of itself stands here: that
another one existed, that it was longer, that its dates or tokens were others. JSON Lines rather than one JSON value,
so that git's own `merge=union` joins two branches that recorded different cases; a line it leaves over is dropped
with the next one written.
"""

import hashlib
import json
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, ValidationError

from evals.cassette import disk
from evals.cassette.store import Cassette, load
from evals.cassette.vcr_file import SCHEMA
from evals.errors import CassetteError
from evals.models.closed import Closed

NAME: Final = "manifest.jsonl"
AGAIN: Final = "run `evals cassette manifest`, look at its diff, and commit it"


class Line(Closed):
    """One cassette: its bytes by digest, and what they hold. Dates are those of the oldest and newest answer."""

    file: str
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    schema_: Annotated[int, Field(alias="schema")]
    interactions: Annotated[int, Field(ge=0)]
    recorded_from: str
    recorded_to: str
    models: tuple[str, ...]


def line_for(path: Path) -> Line:
    """The line of a cassette file as it is now. Raises CassetteError if it cannot be trusted."""
    return line_of(path, load(path))


def line_of(path: Path, cassette: Cassette) -> Line:
    """The line of a cassette file that was read just now."""
    times = sorted(found.recorded_at for found in cassette.interactions)
    return Line.model_validate(
        {
            "file": path.name,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "schema": SCHEMA,
            "interactions": len(cassette.interactions),
            "recorded_from": times[0] if times else "",
            "recorded_to": times[-1] if times else "",
            "models": sorted({found.model for found in cassette.interactions if found.model}),
        }
    )


def listed(folder: Path) -> list[tuple[int, Line]]:
    """The manifest's lines with their numbers, empty if there is none. Raises CassetteError."""
    path = folder / NAME
    lines = disk.decoded(disk.read(path) or b"", path).splitlines()
    return [(number, _parsed(path, number, text)) for number, text in enumerate(lines, 1)]


def others(folder: Path, names: Collection[str]) -> tuple[str, ...]:
    """Which of these cassettes are another file than the one listed, as sentences. One not listed, or not there,
    is not looked at. Tokens, dates and who answered stand in a cassette without a digest of their own.

    Raises:
        CassetteError: the manifest, or a cassette, cannot be read.
    """
    due: dict[str, set[str]] = {}
    for _, line in listed(folder):
        due.setdefault(line.file, set()).add(line.sha256)
    contents = ((name, disk.read(folder / name)) for name in sorted(due.keys() & set(names)))
    return tuple(
        is_another(name)
        for name, content in contents
        if content is not None and hashlib.sha256(content).hexdigest() not in due[name]
    )


def is_another(name: str) -> str:
    """What to say of a cassette that is another file than the manifest lists."""
    return f"{name} is another file than the one listed; if its change was meant, {AGAIN}"


def enter(path: Path) -> None:
    """Bring the line of one cassette up to date, after something was accepted into it."""
    _write(path.parent, changed=[path])


def write(folder: Path) -> int:
    """Make the manifest anew from the files that are there, and return how many. Raises CassetteError."""
    found = sorted(folder.glob("*.yaml"))
    _write(folder, changed=found, keep=False)
    return len(found)


def _write(folder: Path, changed: Iterable[Path], *, keep: bool = True) -> None:
    path = folder / NAME
    with disk.writing(path):
        lines = {line.file: line for _, line in listed(folder)} if keep else {}
        lines |= {each.name: line_for(each) for each in changed}
        text = "".join(_text(line) + "\n" for _, line in sorted(lines.items()))
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            disk.replace(path, text)


def _text(line: Line) -> str:
    return json.dumps(line.model_dump(mode="json", by_alias=True), ensure_ascii=False)


def _parsed(path: Path, number: int, text: str) -> Line:
    try:
        return Line.model_validate_json(text)
    except ValidationError:
        raise CassetteError(path, f"no line of a manifest; {AGAIN}", number) from None
