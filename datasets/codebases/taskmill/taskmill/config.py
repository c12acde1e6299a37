"""Settings: defaults, then the TOML file, then the environment."""

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from taskmill.errors import ConfigError

ENV_PREFIX = "TASKMILL_"


@dataclass(frozen=True)
class Settings:
    """Everything a deployment may change. Durations are seconds."""

    database: str = "taskmill.db"
    queues: tuple[str, ...] = ("default",)
    worker_name: str = "worker"
    poll_seconds: float = 1.0
    lease_seconds: float = 60.0
    reap_seconds: float = 15.0
    max_attempts: int = 5
    retry_base_seconds: float = 5.0
    retry_factor: float = 2.0
    retry_max_seconds: float = 3600.0
    timezone: str = "UTC"
    log_level: str = "INFO"


def _as_names(raw: Any) -> tuple[str, ...]:
    parts = raw.split(",") if isinstance(raw, str) else list(raw)
    names = tuple(str(part).strip() for part in parts if str(part).strip())
    if not names:
        raise ValueError("expected at least one name")
    return names


def _positive(cast: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def read(raw: Any) -> Any:
        value = cast(raw)
        if value <= 0:
            raise ValueError("must be greater than zero")
        return value

    return read


_READERS: dict[str, Callable[[Any], Any]] = {
    "database": str,
    "queues": _as_names,
    "worker_name": str,
    "poll_seconds": _positive(float),
    "lease_seconds": _positive(float),
    "reap_seconds": _positive(float),
    "max_attempts": _positive(int),
    "retry_base_seconds": _positive(float),
    "retry_factor": _positive(float),
    "retry_max_seconds": _positive(float),
    "timezone": str,
    "log_level": str.upper,
}


def _coerce(name: str, raw: Any) -> Any:
    """The value of one setting, in its own type."""
    reader = _READERS.get(name)
    if reader is None:
        raise ConfigError(f"unknown setting {name!r}")
    try:
        return reader(raw)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"setting {name!r}: {error}") from error


def _from_file(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: {error}") from error
    return dict(document.get("taskmill", {}))


def _from_environ(environ: Mapping[str, str]) -> dict[str, Any]:
    """Variables that belong to other parts of the program (no such setting) are not ours to judge."""
    known = {field.name for field in fields(Settings)}
    found = {}
    for key, value in environ.items():
        name = key.removeprefix(ENV_PREFIX).lower()
        if key.startswith(ENV_PREFIX) and name in known:
            found[name] = value
    return found


def load_settings(path: Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Settings of this process.

    Raises ConfigError when the file cannot be read or a value does not fit its setting.
    """
    values = _from_file(path)
    values.update(_from_environ(os.environ if environ is None else environ))
    return Settings(**{name: _coerce(name, raw) for name, raw in values.items()})
