"""Stored runs and shards, read back in this or an older schema."""

from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from evals.atomic_files import write_files
from evals.errors import ConfigurationError
from evals.models.base import Sealed
from evals.models.judge import JudgedRun
from evals.models.run import RUN_SCHEMA, Run
from evals.models.shard_file import SHARD_SCHEMA, Shard
from evals.paths import path_of_user
from evals.secrets.secret_filter import held_back

Stored = TypeVar("Stored", bound=Sealed)


def read_run(path: Path | str) -> Run:
    """The run stored at `path`.

    Raises:
        ConfigurationError: no such file, not a run, or one of a newer schema.
    """
    path = path_of_user(path, "path")
    absent, broken = "`make eval` writes reports/latest", "not a run.json of this version"
    model: type[Run] = JudgedRun if _is_judged(path) else Run
    return read_stored(path, model, RUN_SCHEMA, mark="trials", absent=absent, broken=broken, sealed_since=4)


def _is_judged(path: Path) -> bool:
    """Whether the file holds what a judge said: its member comes last, and an issue's text cannot spell its quotes."""
    try:
        content = path.read_bytes()
    except OSError:
        return False  # which is said by whoever reads it
    return b'\n "judge": {' in content or b',"judge":{' in content


def read_stored(
    path: Path, model: type[Stored], newest: int, *, mark: str, absent: str, broken: str, sealed_since: int
) -> Stored:
    """The `model` stored at `path`. `newest` is the schema it is read up to, `mark` a field that tells it from other
    kinds of files; `absent` and `broken` say what to do where it is not there, or not whole. Files of schema
    `sealed_since` and newer hold their own digest.

    Raises:
        ConfigurationError: no such file, of another kind, of a newer schema, or edited since it was written.
    """
    try:
        content = path.read_bytes()
        found = model.model_validate_json(content)
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror}); {absent}") from error
    except ValidationError as error:
        version = _schema_version(content, mark)
        if version > newest:
            raise ConfigurationError(
                f"{path}: written by a newer evals (schema {version}, this one reads up to {newest}); upgrade"
            ) from error
        raise ConfigurationError(f"{path}: {broken} ({error.error_count()} faults)") from error
    is_sealed = found.content_sha256 or _schema_version(content, mark) >= sealed_since
    if is_sealed and not found.intact:
        raise ConfigurationError(f"{path}: edited or damaged since it was written; {absent}")
    return found


def _schema_version(content: bytes, mark: str) -> int:
    """The schema a file says it has; 0 where it says none, or where it has no field `mark`: it is of another kind."""
    try:
        told = TypeAdapter(dict[str, Any]).validate_json(content)
    except ValidationError:
        return 0
    version = told.get("schema_version", 0) if mark in told else 0
    return version if isinstance(version, int) else 0


def write_shard(shard: Shard, path: Path) -> None:
    """Write the shard; the file appears whole or not at all, and a text no cassette may
    hold is withheld. Raises ConfigurationError if it cannot be written."""
    write_files(path.parent, {path.name: held_back(shard, path).sealed().model_dump_json(by_alias=True) + "\n"})


def read_shard(path: Path) -> Shard:
    """The shard stored at `path`.

    Raises:
        ConfigurationError: no such file, not a shard, or one of a newer schema.
    """
    absent = "`evals run SUITE --shard 1/2` writes one"
    broken = "not a whole shard; make it anew with `evals run SUITE --shard`"
    return read_stored(path, Shard, SHARD_SCHEMA, mark="traces", absent=absent, broken=broken, sealed_since=2)
