"""What lint found last time about the very same bytes by the very same checks."""

import hashlib
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache as once
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

import evals
from evals.dataset.finding import LintFinding

_FINDINGS: Final = TypeAdapter(list[LintFinding])
_CHECKS: Final = ("dataset/*.py", "dataset/checks/*.py", "routes/*.py", "models/*.py", "cassette/redact.py")


def place_of(cache: Path, rests_on: Iterable[bytes]) -> Path:
    """The file that holds, or will hold, what is found about these bytes."""
    parts = [_code_digest(), sys.version.encode(), *rests_on]
    name = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
    return cache / "lint" / f"{name}.json"


def recall(place: Path, root: Path) -> list[LintFinding] | None:
    """What was found last time, in whatever folder the dataset then was; None if never looked."""
    if not place.exists():
        return None
    return [replace(finding, path=str(root / finding.path)) for finding in _FINDINGS.validate_json(place.read_bytes())]


def remember(place: Path, root: Path, findings: Sequence[LintFinding]) -> None:
    """Keep the findings: whole or not at all, since a torn file would be taken for what was found."""
    place.parent.mkdir(parents=True, exist_ok=True)
    scratch = place.with_suffix(f".{os.getpid()}")
    moved = [replace(finding, path=Path(finding.path).relative_to(root).as_posix()) for finding in findings]
    scratch.write_bytes(_FINDINGS.dump_json(moved))
    scratch.replace(place)


@once
def _code_digest() -> bytes:
    """Over everything the checks are made of, so that a changed check forgets what the old one found."""
    package = Path(evals.__file__).parent
    files = sorted(file for pattern in _CHECKS for file in package.glob(pattern))
    return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).digest()
