"""Bringing a cassette file up to the schema of today, one version at a time.

A step takes the file's plain data in schema n, every body whole, and returns it in schema n + 1, header included. What
was recorded must survive a step: keys and answers are checked again afterwards.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from evals.cassette import disk, vcr_file
from evals.cassette.allowed_secrets import allowed_beside
from evals.cassette.store import Cassette, read
from evals.cassette.unfold import MEMBER, unfolded
from evals.cassette.vcr_file import SCHEMA
from evals.cassette.withhold import refuse_planted
from evals.cassette.yaml_text import plain
from evals.errors import CassetteError

Plain = dict[str, Any]
Steps = Mapping[int, Callable[[Plain], Plain]]


def _says_things_once(data: Plain) -> Plain:
    """From schema 1, which wrote every body out: what changed is the spelling, and that is `layout`'s."""
    return data | {"x_replay": data["x_replay"] | {"schema": 2}}


MIGRATIONS: Final[Steps] = {1: _says_things_once}
_HEADER: Final = re.compile(rb"x_replay:\n  schema: (\d+)\n")


def migrate(path: Path, steps: Steps = MIGRATIONS) -> int | None:
    """Rewrites a file of an older schema in today's and returns the schema it had; None if it is of today already.

    Raises:
        CassetteError: a newer schema, one that never was, or data that does not survive; the file stays as it is.
    """
    content = path.read_bytes()
    text = disk.decoded(content, path)
    data = plain(text, path)
    found = schema_of(data, path)
    if found == SCHEMA:
        return None
    migrated = _in_todays(data, text, path, steps)
    read(migrated.encode(), path)
    disk.replace(path, migrated)
    return found


def read_any(content: bytes, path: Path) -> Cassette:
    """The cassette in a file's bytes, also of an older schema: a revision or a branch from before a migration.

    Raises CassetteError or SecretFoundError like `read`.
    """
    header = _HEADER.match(content)
    if header is None or int(header[1]) >= SCHEMA:
        return read(content, path)
    text = disk.decoded(content, path)
    refuse_planted(path, text, allowed_beside(path))
    return read(_in_todays(plain(text, path), text, path, MIGRATIONS).encode(), path)


def _in_todays(data: Plain, text: str, path: Path, steps: Steps) -> str:
    found = schema_of(data, path)
    if found > SCHEMA:
        raise CassetteError(path, f"schema {found}, and this version reads up to {SCHEMA}: update this package", 1)
    if MEMBER in data:
        data = unfolded(data, text, path)
    for version in range(found, SCHEMA):
        if version not in steps:
            raise CassetteError(path, f"schema {version}, which no step leads out of: record the case again", 1)
        data = steps[version](data)
    return vcr_file.render(vcr_file.shaped(data, text, path))


def schema_of(data: Plain, path: Path) -> int:
    """The schema the file's header names. Raises CassetteError if it names none."""
    header = data.get("x_replay")
    version = header.get("schema") if isinstance(header, dict) else None
    if not isinstance(version, int):
        raise CassetteError(path, "no x_replay.schema: not written by this recorder, or truncated", 1)
    return version
