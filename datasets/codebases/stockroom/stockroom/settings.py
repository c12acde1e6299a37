"""Settings, read once from the environment at start-up."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from stockroom.errors import ConfigurationError

PREFIX = "STOCKROOM_"


@dataclass(frozen=True)
class Settings:
    """Everything that differs between two installations."""

    token_secret: bytes
    database: str = ":memory:"
    cache_seconds: float = 30.0
    cache_entries: int = 1024
    page_limit: int = 100
    reservation_minutes: int = 30
    clock_leeway_seconds: int = 30
    webhook_attempts: int = 3
    webhook_timeout_seconds: float = 5.0
    log_level: str = "INFO"

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> Settings:
        """Read `STOCKROOM_*`; a missing secret or a value that is no number is a ConfigurationError."""
        source = os.environ if env is None else env
        secret = source.get(PREFIX + "TOKEN_SECRET", "")
        if not secret:
            raise ConfigurationError(f"{PREFIX}TOKEN_SECRET must be set")
        return cls(
            token_secret=secret.encode("utf-8"),
            database=source.get(PREFIX + "DATABASE", cls.database),
            cache_seconds=_number(source, "CACHE_SECONDS", cls.cache_seconds),
            cache_entries=int(_number(source, "CACHE_ENTRIES", cls.cache_entries)),
            page_limit=int(_number(source, "PAGE_LIMIT", cls.page_limit)),
            reservation_minutes=int(_number(source, "RESERVATION_MINUTES", cls.reservation_minutes)),
            clock_leeway_seconds=int(_number(source, "CLOCK_LEEWAY_SECONDS", cls.clock_leeway_seconds)),
            webhook_attempts=int(_number(source, "WEBHOOK_ATTEMPTS", cls.webhook_attempts)),
            webhook_timeout_seconds=_number(source, "WEBHOOK_TIMEOUT_SECONDS", cls.webhook_timeout_seconds),
            log_level=source.get(PREFIX + "LOG_LEVEL", cls.log_level).upper(),
        )


def _number(source: Mapping[str, str], name: str, default: float) -> float:
    raw = source.get(PREFIX + name)
    if raw is None or raw == "":
        return default
    try:
        value = float(raw)
    except ValueError:
        raise ConfigurationError(f"{PREFIX}{name} must be a number, not {raw!r}") from None
    if value < 0:
        raise ConfigurationError(f"{PREFIX}{name} must not be negative")
    return value
