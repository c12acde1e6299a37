"""Settings: built-in values, overridden by a TOML file, overridden by the environment.

    data_dir = "/var/lib/coldshelf"
    segment_size = "64MiB"

    [namespaces.sessions]
    ttl = "1d12h"

Durations are written as numbers with units (`90s`, `5m`, `1d12h`), sizes likewise (`512KiB`, `64MiB`); a bare number
means seconds or bytes.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from coldshelf.errors import ConfigError

PREFIX = "COLDSHELF_"
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
BYTES = {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}
_DURATION_PART = re.compile(r"(\d+)\s*([smhdw])")
_SIZE = re.compile(r"(\d+)\s*(B|KiB|MiB|GiB)")


@dataclass(frozen=True)
class NamespaceSettings:
    """What may differ from one namespace to the next."""

    ttl: float | None = None
    cache_entries: int = 1024
    cache_ttl: float = 300.0
    max_value: int = 1024**2


@dataclass(frozen=True)
class Settings:
    """The whole configuration of one coldshelf instance."""

    data_dir: Path = Path("coldshelf-data")
    snapshot_dir: Path = Path("coldshelf-snapshots")
    token_file: Path | None = None
    segment_size: int = 64 * 1024**2
    compact_below: float = 0.5
    keep_snapshots: int = 7
    fsync: bool = True
    defaults: NamespaceSettings = field(default_factory=NamespaceSettings)
    namespaces: Mapping[str, NamespaceSettings] = field(default_factory=dict)

    def namespace(self, name: str) -> NamespaceSettings:
        """The settings of one namespace: its own, or the defaults."""
        return self.namespaces.get(name, self.defaults)


def load_settings(path: Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Settings from a file and the environment, either of which may be absent. Raises ConfigError."""
    raw = _from_file(path)
    tables = raw.pop("namespaces", {})
    defaults = _namespace("defaults", raw.pop("defaults", {}), NamespaceSettings())
    raw.update(_from_environ(os.environ if environ is None else environ))
    values = {name: _convert(name, value, _TOP) for name, value in raw.items()}
    named = {name: _namespace(name, table, defaults) for name, table in tables.items()}
    settings = Settings(**values, defaults=defaults, namespaces=named)
    if not 0 < settings.compact_below < 1:
        raise ConfigError(f"compact_below must lie between 0 and 1, not {settings.compact_below}")
    if settings.keep_snapshots < 1:
        raise ConfigError(f"keep_snapshots must be at least 1, not {settings.keep_snapshots}")
    return settings


def parse_duration(raw: object) -> float:
    """Seconds of a duration such as `90`, `5m` or `1d12h`; the parts are added up."""
    if isinstance(raw, (int, float)) and not isinstance(raw, bool):
        return float(raw)
    text = str(raw).strip()
    if text.isdigit():
        return float(text)
    seconds, end = 0, 0
    for part in _DURATION_PART.finditer(text):
        if text[end : part.start()].strip():
            break
        seconds += int(part[1]) * SECONDS[part[2]]
        end = part.end()
    if end != len(text) or not text:
        raise ConfigError(f"not a duration: {raw!r}; write it as in 90s, 5m or 1d12h")
    return float(seconds)


def parse_size(raw: object) -> int:
    """Bytes of a size such as `4096` or `64MiB`."""
    if isinstance(raw, int) and not isinstance(raw, bool):
        return raw
    text = str(raw).strip()
    if text.isdigit():
        return int(text)
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ConfigError(f"not a size: {raw!r}; write it as in 512KiB or 64MiB")
    return int(match[1]) * BYTES[match[2]]


def parse_flag(raw: object) -> bool:
    """A yes or no."""
    if isinstance(raw, bool):
        return raw
    text = str(raw).strip().lower()
    if text not in {"true", "false", "1", "0", "yes", "no"}:
        raise ConfigError(f"not a yes or no: {raw!r}")
    return text in {"true", "1", "yes"}


_TOP: Mapping[str, Callable[[Any], Any]] = {
    "data_dir": Path,
    "snapshot_dir": Path,
    "token_file": Path,
    "segment_size": parse_size,
    "compact_below": float,
    "keep_snapshots": int,
    "fsync": parse_flag,
}
_NAMESPACE: Mapping[str, Callable[[Any], Any]] = {
    "ttl": parse_duration,
    "cache_entries": int,
    "cache_ttl": parse_duration,
    "max_value": parse_size,
}


def _from_file(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from error


def _from_environ(environ: Mapping[str, str]) -> dict[str, Any]:
    known = {setting.name for setting in fields(Settings)} & set(_TOP)
    return {name: environ[PREFIX + name.upper()] for name in sorted(known) if PREFIX + name.upper() in environ}


def _namespace(name: str, table: Mapping[str, Any], base: NamespaceSettings) -> NamespaceSettings:
    return replace(base, **{key: _convert(f"{name}.{key}", value, _NAMESPACE) for key, value in table.items()})


def _convert(name: str, value: object, converters: Mapping[str, Callable[[Any], Any]]) -> Any:
    convert = converters.get(name.rpartition(".")[2])
    if convert is None:
        raise ConfigError(f"unknown setting {name}")
    try:
        return convert(value)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{name}: {error}") from error
