"""What lint found last time about the very same bytes by the very same checks."""

import hashlib
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from evals.dataset.finding import LintFinding
from evals.dataset.memory import code_digest, keep, recalled

_FINDINGS: Final = TypeAdapter(list[LintFinding])
_CHECKS: Final = (
    "dataset/*.py",
    "dataset/checks/*.py",
    "routes/*.py",
    "models/*.py",
    "cassette/redact.py",
    "../triage/secrecy/*.py",
)


def place_of(cache: Path, rests_on: Iterable[bytes]) -> Path:
    """The file that holds, or will hold, what is found about these bytes."""
    parts = [code_digest(*_CHECKS), sys.version.encode(), *rests_on]
    name = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
    return cache / "lint" / f"{name}.json"


def recall(place: Path, root: Path) -> list[LintFinding] | None:
    """What was found last time, in whatever folder the dataset then was; None if never looked, or if it is damaged."""
    found = recalled(place, _FINDINGS)
    return None if found is None else [replace(finding, path=str(root / finding.path)) for finding in found]


def remember(place: Path, root: Path, findings: Sequence[LintFinding]) -> None:
    """Keep the findings, with paths as seen from the dataset."""
    moved = [replace(finding, path=Path(finding.path).relative_to(root).as_posix()) for finding in findings]
    keep(place, _FINDINGS.dump_json(moved))
