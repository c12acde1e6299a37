"""A shard as a file: the same trials give the same bytes."""

from pathlib import Path

from pydantic import ValidationError

from evals.errors import ConfigurationError
from evals.export.files import write_files
from evals.export.stored import schema_version
from evals.models.shard import SHARD_SCHEMA, Shard


def write_shard(shard: Shard, path: Path) -> None:
    """Write the shard; the file appears whole or not at all. Raises ConfigurationError if it cannot be written."""
    write_files(path.parent, {path.name: shard.model_dump_json(by_alias=True) + "\n"})


def read_shard(path: Path) -> Shard:
    """The shard stored at `path`.

    Raises:
        ConfigurationError: no such file, not a shard, or one of a newer schema.
    """
    try:
        content = path.read_bytes()
        return Shard.model_validate_json(content)
    except OSError as error:
        raise ConfigurationError(
            f"{path}: cannot be read ({error.strerror}); `evals run SUITE --shard 1/2` writes one"
        ) from error
    except ValidationError as error:
        version = schema_version(content, "traces")
        if version > SHARD_SCHEMA:
            raise ConfigurationError(
                f"{path}: written by a newer evals (schema {version}, this one reads up to {SHARD_SCHEMA}); upgrade"
            ) from error
        raise ConfigurationError(f"{path}: not a whole shard; make it anew with `evals run SUITE --shard`") from error
