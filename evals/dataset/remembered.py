"""What lint found last time about the very same bytes by the very same checks."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from evals.dataset.finding import LintFinding
from evals.dataset.memory import code_digest, libraries_digest
from evals.kept import Kept, digest_of

FOLDER: Final = "lint"
_FINDINGS: Final = TypeAdapter(list[LintFinding])
_CHECKS: Final = (
    "dataset/*.py",
    "dataset/checks/*.py",
    "dataset/releases/*.py",
    "routes/*.py",
    "models/*.py",
    "cassette/redact.py",
    "cassette/borrowed.py",
    "cassette/quoted.py",
    "../triage/secrecy/*.py",
)


def name_of(cache: Path, rests_on: Iterable[bytes]) -> str:
    """What the findings about these bytes are kept under."""
    return digest_of(code_digest(*_CHECKS), libraries_digest(cache), sys.version.encode(), *rests_on)


def recall(cache: Path, name: str, root: Path) -> list[LintFinding] | None:
    """What was found last time, in whatever folder the dataset then was; None if never looked, or if it is damaged."""
    found = Kept(cache / FOLDER).get(name)
    return (
        None
        if found is None
        else [replace(each, path=str(root / each.path)) for each in _FINDINGS.validate_json(found)]
    )


def remember(cache: Path, name: str, root: Path, findings: Sequence[LintFinding]) -> None:
    """Keep the findings, with paths as seen from the dataset."""
    moved = [replace(finding, path=Path(finding.path).relative_to(root).as_posix()) for finding in findings]
    Kept(cache / FOLDER).put(name, _FINDINGS.dump_json(moved))
