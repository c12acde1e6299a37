"""Whether a text may stand in a public repository: no secret, nobody's address, no package registry."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from evals.cassette.redact import scan
from evals.dataset.finding import Complaint

_ADDRESS: Final = re.compile(r"(?<![\w.+-])[\w.+-]+@((?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,})")
_FREE_FOR_EXAMPLES: Final = re.compile(r"(?:.+\.)?example\.(?:com|net|org)", re.IGNORECASE)  # RFC 2606
_REGISTRY: Final = re.compile(
    r"\b(?:[\w-]+\.)*(?:pypi|pythonhosted|npmjs|rubygems|crates|anaconda|conda)\.(?:org|com|io)\b", re.IGNORECASE
)


def unfit_lines(path: Path) -> Iterator[Complaint]:
    """What keeps the file from being published, at its line; an undecodable file is none of this check's business."""
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), 1):
        for message in _faults(line):
            yield Complaint(message, path, number)


def _faults(line: str) -> Iterator[str]:
    foreign = [match.group() for match in _ADDRESS.finditer(line) if _is_somebodys(match)]
    if foreign:
        yield f"holds the address {foreign[0]!r}; use one at example.com"
    for rule in sorted({finding.rule for finding in scan(line)} - {"email"}):
        yield f"looks like a secret ({rule}); a cassette that quotes it could not be written"
    registry = _REGISTRY.search(line)
    if registry:
        yield f"names the package registry {registry.group()!r}; say what was installed, not from where"


def _is_somebodys(match: re.Match[str]) -> bool:
    return not _FREE_FOR_EXAMPLES.fullmatch(match.group(1)) and not match.group().startswith("git@")
