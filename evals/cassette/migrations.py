"""Bringing a cassette file up to the schema of today, one version at a time.

Schema 1 is the first there was, so the table is empty; a step takes the file's plain data in schema n and returns it
in schema n + 1, header included. What was recorded must survive a step: keys and answers are checked again afterwards.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from evals.cassette import disk, vcr_file
from evals.cassette.store import read
from evals.cassette.vcr_file import SCHEMA
from evals.errors import CassetteError

Plain = dict[str, Any]
Steps = Mapping[int, Callable[[Plain], Plain]]

MIGRATIONS: Final[Steps] = {}


def migrate(path: Path, steps: Steps = MIGRATIONS) -> int | None:
    """Rewrites a file of an older schema in today's and returns the schema it had; None if it is of today already.

    Raises:
        CassetteError: a newer schema, one that never was, or data that does not survive; the file stays as it is.
    """
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise CassetteError(path, f"not UTF-8 at byte {error.start}, or truncated; restore the file") from None
    data = vcr_file.plain(text, path)
    found = schema_of(data, path)
    if found == SCHEMA:
        return None
    if found > SCHEMA:
        raise CassetteError(path, f"schema {found}, and this version reads up to {SCHEMA}: update this package", 1)
    for version in range(found, SCHEMA):
        if version not in steps:
            raise CassetteError(path, f"schema {version}, which no step leads out of: record the case again", 1)
        data = steps[version](data)
    migrated = vcr_file.render(vcr_file.shaped(data, text, path))
    read(migrated.encode(), path)
    disk.replace(path, migrated)
    return found


def schema_of(data: Plain, path: Path) -> int:
    """The schema the file's header names. Raises CassetteError if it names none."""
    header = data.get("x_replay")
    version = header.get("schema") if isinstance(header, dict) else None
    if not isinstance(version, int):
        raise CassetteError(path, "no x_replay.schema: not written by this recorder, or truncated", 1)
    return version
