"""The configuration file: where the book is, what the statements of each bank look like."""

import logging
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import tzinfo
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ledgerline.entries import check_account
from ledgerline.errors import ConfigError, LedgerlineError

log = logging.getLogger(__name__)

FILE_NAME = "ledgerline.toml"
VARIABLE = "LEDGERLINE_CONFIG"
REQUIRED_COLUMNS = ("date", "amount")
TEXT_COLUMNS = ("payee", "memo", "reference", "currency")


@dataclass(frozen=True)
class BankProfile:
    """How to read the statements of one account."""

    name: str
    account: str
    columns: Mapping[str, str]
    currency: str = "EUR"
    encoding: str = "utf-8-sig"
    delimiter: str = ";"
    decimal: str = ","
    dates: str = "%d.%m.%Y"
    skip_lines: int = 0


@dataclass(frozen=True)
class Settings:
    """Everything a user may set. `folder` is where the configuration file lies; relative paths start there."""

    folder: Path = Path()
    book: str = "book"
    base_currency: str = "EUR"
    timezone: str = ""
    rules: str = "rules.toml"
    rates: str = "rates.csv"
    fallback_account: str = "Expenses:Unknown"
    log_level: str = "WARNING"
    banks: Mapping[str, BankProfile] = field(default_factory=dict)

    def path(self, name: str) -> Path:
        """A path of the configuration, seen from the current folder."""
        return self.folder / Path(name).expanduser()

    def zone(self) -> tzinfo | None:
        """The time zone days are counted in; None is the one of this machine. Raises ConfigError."""
        if not self.timezone:
            return None
        try:
            return ZoneInfo(self.timezone)
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise ConfigError(f"unknown time zone {self.timezone!r}") from error

    def bank(self, name: str) -> BankProfile:
        """The profile of a bank. Raises ConfigError."""
        try:
            return self.banks[name]
        except KeyError:
            known = ", ".join(sorted(self.banks)) or "none"
            raise ConfigError(f"there is no [banks.{name}] in the configuration; known are: {known}") from None


def find_config(named: Path | None, environ: Mapping[str, str]) -> Path | None:
    """The configuration file to read, or None if there is none."""
    if named is not None:
        return named
    if environ.get(VARIABLE):
        return Path(environ[VARIABLE])
    homes = [Path(FILE_NAME), Path(environ.get("HOME", "~")).expanduser() / ".config" / FILE_NAME]
    return next((path for path in homes if path.is_file()), None)


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file, its fractions as decimals. Raises ConfigError."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error


def load_settings(path: Path | None) -> Settings:
    """The settings in a file; the defaults without one. Raises ConfigError."""
    if path is None:
        return Settings()
    log.debug("configuration from %s", path)
    document = read_toml(path)
    banks = {name: _bank(name, table) for name, table in document.get("banks", {}).items()}
    values = _known(document.get("ledgerline", {}), Settings, "[ledgerline]")
    try:
        check_account(values.get("fallback_account", Settings.fallback_account))
    except LedgerlineError as error:
        raise ConfigError(f"[ledgerline] {error}") from error
    return Settings(**{**values, "folder": path.parent, "banks": banks})


def _bank(name: str, table: Mapping[str, Any]) -> BankProfile:
    where = f"[banks.{name}]"
    profile = BankProfile(name=name, **_known(table, BankProfile, where, required=("account", "columns")))
    missing = [column for column in REQUIRED_COLUMNS if column not in profile.columns]
    unknown = set(profile.columns) - {*REQUIRED_COLUMNS, *TEXT_COLUMNS}
    if missing or unknown:
        raise ConfigError(f"{where} columns: {'missing' if missing else 'unknown'} {', '.join(missing or unknown)}")
    try:
        check_account(profile.account)
    except LedgerlineError as error:
        raise ConfigError(f"{where} {error}") from error
    return profile


def _known(table: Mapping[str, Any], kind: type, where: str, required: tuple[str, ...] = ()) -> dict[str, Any]:
    """The values of a table, if all of them are fields of `kind` and none that it needs is left out."""
    names = {entry.name for entry in fields(kind)} - {"name", "folder", "banks"}
    for name in table:
        if name not in names:
            raise ConfigError(f"{where} unknown setting {name!r}")
    for name in required:
        if name not in table:
            raise ConfigError(f"{where} {name} is missing")
    return dict(table)
