"""Reading a `run.json` back: of this schema or an older one; a newer one is refused, not half understood."""

from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from evals.errors import ConfigurationError
from evals.models.run import RUN_SCHEMA, Run


def read_run(path: Path) -> Run:
    """The run stored at `path`.

    Raises:
        ConfigurationError: no such file, not a run, or one of a newer schema.
    """
    try:
        content = path.read_bytes()
        return Run.model_validate_json(content)
    except OSError as error:
        raise ConfigurationError(
            f"{path}: cannot be read ({error.strerror}); `make eval` writes reports/latest"
        ) from error
    except ValidationError as error:
        version = schema_version(content, "trials")
        if version > RUN_SCHEMA:
            raise ConfigurationError(
                f"{path}: written by a newer evals (schema {version}, this one reads up to {RUN_SCHEMA}); upgrade"
            ) from error
        raise ConfigurationError(f"{path}: not a run.json of this version ({error.error_count()} faults)") from error


def schema_version(content: bytes, mark: str) -> int:
    """The schema a file says it has; 0 where it says none, or where it has no field `mark`: it is of another kind."""
    try:
        told = TypeAdapter(dict[str, Any]).validate_json(content)
    except ValidationError:
        return 0
    version = told.get("schema_version", 0) if mark in told else 0
    return version if isinstance(version, int) else 0
