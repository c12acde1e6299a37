"""Settings: defaults, then the configuration file, then the environment, then the command line."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from quillmark.errors import ConfigError

FILE_NAME = "quillmark.toml"
PREFIX = "QUILLMARK_"
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
# What only decides where files lie and which pages go out; none of it changes how a page is rendered.
_PLACEMENT = frozenset({"content", "layouts", "output", "cache", "exclude", "drafts", "future"})


@dataclass(frozen=True)
class Settings:
    """Everything a build can be told. Paths are relative to the root of the site."""

    title: str = "Untitled"
    base_url: str = ""
    content: str = "content"
    layouts: str = "layouts"
    output: str = "public"
    cache: str = ".quillmark/cache.json"
    plugins: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    drafts: bool = False
    future: bool = False
    toc_depth: int = 3
    variables: Mapping[str, str] = field(default_factory=dict)

    def rendering_digest(self) -> str:
        """Changes whenever a setting changes that can change the HTML of a page."""
        shown = {item.name: getattr(self, item.name) for item in fields(self) if item.name not in _PLACEMENT}
        text = json.dumps(shown, sort_keys=True, default=dict)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def load_settings(root: Path, environ: Mapping[str, str], overrides: Mapping[str, Any] | None = None) -> Settings:
    """The settings of the site in folder `root`.

    QUILLMARK_CONFIG names another file than quillmark.toml; every other QUILLMARK_<NAME> overrides one setting.
    Values of None in `overrides` are left out. Raises ConfigError.
    """
    values = _from_file(root / environ.get(f"{PREFIX}CONFIG", FILE_NAME))
    values.update(_from_environ(environ))
    values.update({name: value for name, value in (overrides or {}).items() if value is not None})
    return Settings(**{name: _coerce(name, value) for name, value in values.items()})


def build_date(environ: Mapping[str, str], today: Callable[[], date]) -> date:
    """The day the build counts as today: SOURCE_DATE_EPOCH (seconds, UTC) if it is set, else the real one."""
    stamp = environ.get("SOURCE_DATE_EPOCH")
    if not stamp:
        return today()
    try:
        return datetime.fromtimestamp(int(stamp), tz=UTC).date()
    except (ValueError, OverflowError, OSError) as error:
        raise ConfigError(f"SOURCE_DATE_EPOCH is not a number of seconds: {stamp!r}") from error


def _from_file(path: Path) -> dict[str, Any]:
    if not path.exists():
        if path.name == FILE_NAME:
            return {}
        raise ConfigError(f"there is no configuration file {path}")
    try:
        with path.open("rb") as stream:
            values = tomllib.load(stream)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
    return {name.replace("-", "_"): value for name, value in values.items()}


def _from_environ(environ: Mapping[str, str]) -> dict[str, Any]:
    known = {item.name for item in fields(Settings)} - {"variables"}
    named = {name: environ.get(PREFIX + name.upper()) for name in known}
    return {name: value for name, value in named.items() if value is not None}


def _coerce(name: str, value: Any) -> Any:
    """`value` as the type its setting has; text from the environment counts like a value of the file."""
    kinds = {item.name: item.type for item in fields(Settings)}
    if name not in kinds:
        raise ConfigError(f"unknown setting {name!r}")
    try:
        return _CONVERT[str(kinds[name])](value)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{name}: cannot use {value!r}") from error


def _flag(value: Any) -> bool:
    text = str(value).lower()
    if text not in _TRUE | _FALSE:
        raise ValueError(text)
    return text in _TRUE


def _names(value: Any) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else list(value)
    return tuple(part.strip() for part in map(str, parts) if part.strip())


def _table(value: Any) -> dict[str, str]:
    return {str(name): str(item) for name, item in dict(value).items()}


_CONVERT: dict[str, Callable[[Any], Any]] = {
    "str": str,
    "int": int,
    "bool": _flag,
    "tuple[str, ...]": _names,
    "Mapping[str, str]": _table,
}
