"""What was computed once and may be thrown away: kept whole or not at all, named by the code behind it."""

import hashlib
import os
from functools import cache as once
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

import evals

Kept = TypeVar("Kept")


def keep(place: Path, content: bytes) -> None:
    """Write the file by one rename, since a torn one would be taken for what was computed."""
    place.parent.mkdir(parents=True, exist_ok=True)
    scratch = place.with_suffix(f".{os.getpid()}")
    scratch.write_bytes(content)
    scratch.replace(place)


def recalled(place: Path, kind: TypeAdapter[Kept]) -> Kept | None:
    """What the file holds. None if there is no such file, or a damaged one: what is lost is computed again."""
    try:
        return kind.validate_json(place.read_bytes())
    except (OSError, ValidationError):
        return None


@once
def code_digest(*patterns: str) -> bytes:
    """Sha256 over the files that match one of the patterns, relative to `evals`."""
    package = Path(evals.__file__).parent
    files = sorted(file for pattern in patterns for file in package.glob(pattern))
    return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).digest()
