"""What leaves by another door than a cassette: the same rule, but a text that breaks it is withheld, not refused.

A report has to be written whatever an issue says; a round's answers are paid for, and all but one may be good.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel

from evals.cassette.allowed_secrets import AllowedSecrets, allowed_beside
from evals.cassette.redact import WITHHELD, scan, unsuspicious
from evals.models.sealed import Sealed
from triage.secrecy.names import is_named

Told = TypeVar("Told", bound=BaseModel)
BLOCK: Final = 1 << 24
"""Characters."""


def held_back(told: Told, path: Path) -> Told:
    """The same with every text withheld that a cassette beside `path` would refuse."""
    if isinstance(told, Sealed) and all(unsuspicious(block, []) for block in _blocks(told.pieces())):
        return told
    text = told.model_dump_json(by_alias=True)
    clean = fit_to_write(text, allowed_beside(path))
    return told if clean == text else type(told).model_validate_json(clean)


def _blocks(pieces: Iterable[str]) -> Iterator[list[str]]:
    """Some megabytes of text at a time: a text that many trials share is looked at once a block."""
    block, size = [], 0
    for piece in pieces:
        block.append(piece)
        size += len(piece)
        if size > BLOCK:
            yield block
            block, size = [], 0
    yield block


def withheld_in(path: Path) -> int:
    """How many texts of a written file are withheld."""
    with path.open("rb") as stored:
        return sum(line.count(WITHHELD.encode()) for line in stored)


def fit_to_write(text: str, allowed: AllowedSecrets) -> str:
    """The JSON text with every text in it withheld that holds a secret nobody answers for; mostly as it is."""
    if unsuspicious([text], []):
        return text
    value = json.loads(text)
    fit = _fit(value, allowed)
    return text if fit == value else json.dumps(fit, ensure_ascii=False)


def _fit(value: object, allowed: AllowedSecrets) -> object:
    if isinstance(value, str):
        return WITHHELD if scan(value, allowed=allowed) else value
    if isinstance(value, dict):
        return {str(_fit(name, allowed)): _fit_member(name, member, allowed) for name, member in value.items()}
    return [_fit(each, allowed) for each in value] if isinstance(value, list) else value


def _fit_member(name: str, member: object, allowed: AllowedSecrets) -> object:
    """What a password is called may be said, what it is may not."""
    if isinstance(member, str) and is_named(name) and scan({name: member}, allowed=allowed):
        return WITHHELD
    return _fit(member, allowed)
