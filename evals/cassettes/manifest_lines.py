"""Lines of the manifest: the digest and the contents of one cassette."""

import hashlib
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, ValidationError

from evals import atomic_files as disk
from evals.errors import CassetteError
from evals.models.base import Closed

NAME: Final = "manifest.jsonl"
AGAIN: Final = "run `evals cassette tidy`, look at its diff, and commit it"


class ManifestLine(Closed):
    """One cassette: its bytes by digest, and what they hold. Dates are those of the oldest and newest answer."""

    file: str
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    schema_: Annotated[int, Field(alias="schema")]
    interactions: Annotated[int, Field(ge=0)]
    recorded_from: str
    recorded_to: str
    models: tuple[str, ...]


def listed(folder: Path) -> list[tuple[int, ManifestLine]]:
    """The manifest's lines with their numbers, empty if there is none. Raises CassetteError."""
    path = folder / NAME
    lines = disk.decoded(disk.read(path) or b"", path).splitlines()
    return [(number, _parsed(path, number, text)) for number, text in enumerate(lines, 1)]


def is_listed(path: Path, content: bytes) -> bool:
    """Whether the manifest beside a cassette names these very bytes for it; one that is broken names none."""
    manifest = path.with_name(NAME)
    try:
        state = manifest.stat()
    except OSError:
        return False
    due = _due(manifest, state.st_mtime_ns, state.st_size, state.st_ino)
    return hashlib.sha256(content).hexdigest() in due.get(path.name, ())


@lru_cache(maxsize=8)
def _due(manifest: Path, _modified_ns: int, _size: int, _inode: int) -> Mapping[str, Collection[str]]:
    """Digests by name, once per version of the file: a suite loads a cassette per case."""
    try:
        lines = [line for _, line in listed(manifest.parent)]
    except CassetteError:  # whoever judges the run says so
        return {}
    return {
        name: frozenset(line.sha256 for line in lines if line.file == name) for name in {line.file for line in lines}
    }


def _parsed(path: Path, number: int, text: str) -> ManifestLine:
    try:
        return ManifestLine.model_validate_json(text)
    except ValidationError:
        raise CassetteError(path, f"no line of a manifest; {AGAIN}", number) from None
