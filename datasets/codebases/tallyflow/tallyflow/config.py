"""The pipeline file (TOML): which sources, which meters, which steps. A few settings can come from the environment."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Container, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tallyflow.errors import ConfigError
from tallyflow.localtime import NAIVE
from tallyflow.meters import KINDS, Meter
from tallyflow.schema import FIELDS, RowSchema
from tallyflow.sources import FORMATS, Source

PREFIX = "TALLYFLOW_"
SETTINGS = {"timezone": "UTC", "checkpoints": "", "log_level": "INFO"}
T = TypeVar("T")


@dataclass(frozen=True)
class StepConfig:
    """One step as it stands in the pipeline file; `options` is everything that is not named here."""

    name: str
    kind: str
    inputs: tuple[str, ...]
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Config:
    """A whole pipeline. `base` is the folder of the file: every relative path starts there."""

    base: Path
    tz: ZoneInfo
    checkpoints: Path | None
    log_level: str
    meters: Mapping[str, Meter]
    sources: Mapping[str, Source]
    steps: Mapping[str, StepConfig]


def load(path: Path, environ: Mapping[str, str] | None = None) -> Config:
    """Read a pipeline file. `TALLYFLOW_TIMEZONE`, `_CHECKPOINTS` and `_LOG_LEVEL` overrule it. Raises ConfigError."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: {error}") from error
    return parse(document, path.parent, os.environ if environ is None else environ)


def parse(document: Mapping[str, Any], base: Path, environ: Mapping[str, str]) -> Config:
    """The same for a document that has been read already."""
    _known("file", document, ("tallyflow", "meters", "sources", "steps"))
    settings = _settings(document.get("tallyflow", {}), environ)
    return Config(
        base=base,
        tz=_zone(settings["timezone"]),
        checkpoints=base / settings["checkpoints"] if settings["checkpoints"] else None,
        log_level=settings["log_level"].upper(),
        meters={name: _meter(name, table) for name, table in document.get("meters", {}).items()},
        sources={name: _source(name, table) for name, table in document.get("sources", {}).items()},
        steps={name: _step(name, table) for name, table in document.get("steps", {}).items()},
    )


def _settings(table: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, str]:
    _known("[tallyflow]", table, SETTINGS)
    settings = SETTINGS | {name: str(value) for name, value in table.items()}
    for name in SETTINGS:
        override = environ.get(PREFIX + name.upper())
        if override:
            settings[name] = override
    return settings


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise ConfigError(f"timezone {name!r} is not known on this system") from None


def _meter(name: str, table: Mapping[str, Any]) -> Meter:
    meter = _built(Meter, f"[meters.{name}]", {**table, "name": name})
    if meter.kind not in KINDS:
        raise ConfigError(f"[meters.{name}]: kind is one of {', '.join(KINDS)}")
    return meter


def _source(name: str, table: Mapping[str, Any]) -> Source:
    where = f"[sources.{name}]"
    rest = dict(table)
    schema: dict[str, Any] = {key: rest.pop(key) for key in ("columns", "meter", "unit", "decimal") if key in rest}
    _known(where + " columns", schema.get("columns", {}), FIELDS)
    source = _built(Source, where, {**rest, "name": name, "schema": _built(RowSchema, where, schema)})
    if source.format not in FORMATS:
        raise ConfigError(f"{where}: format is one of {', '.join(FORMATS)}")
    if source.naive not in NAIVE:
        raise ConfigError(f"{where}: naive is one of {', '.join(NAIVE)}")
    return source


def _step(name: str, table: Mapping[str, Any]) -> StepConfig:
    rest = dict(table)
    kind, inputs = rest.pop("kind", None), rest.pop("inputs", [])
    if not isinstance(kind, str):
        raise ConfigError(f"[steps.{name}]: kind is missing")
    if not isinstance(inputs, list):
        raise ConfigError(f"[steps.{name}]: inputs is a list of step names")
    return StepConfig(name, kind, tuple(inputs), rest)


def _built(kind: type[T], where: str, table: Mapping[str, Any]) -> T:
    _known(where, table, tuple(field.name for field in fields(kind)))  # type: ignore[arg-type]
    try:
        return kind(**table)
    except TypeError as error:
        raise ConfigError(f"{where}: {error}") from error


def _known(where: str, table: Mapping[str, Any], names: Container[str]) -> None:
    for key in table:
        if key not in names:
            raise ConfigError(f"{where}: {key!r} is not known here")
