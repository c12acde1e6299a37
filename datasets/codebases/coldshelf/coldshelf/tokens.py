"""Who may do what: access tokens and their grants.

The token file is TOML; it holds digests, never the tokens themselves:

    [tokens.billing]
    sha256 = "..."
    grants = ["invoices:write", "reports.*:read"]
    not_after = 1790000000

A grant names one namespace, or with `.*` at its end a namespace and everything below it: `reports.*` covers `reports`
and `reports.2026`. Write includes read; `admin` includes both.
"""

from __future__ import annotations

import hashlib
import hmac
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

from coldshelf.errors import AccessDenied, ConfigError

SUBTREE = ".*"


class Access(IntEnum):
    """Kinds of access; the higher include the lower."""

    READ = 1
    WRITE = 2
    ADMIN = 3


@dataclass(frozen=True)
class Grant:
    """Access to one namespace or to a subtree."""

    pattern: str
    access: Access

    def covers(self, namespace: str, access: Access) -> bool:
        """Whether this grant allows that."""
        return access <= self.access and self._matches(namespace)

    def _matches(self, namespace: str) -> bool:
        if not self.pattern.endswith(SUBTREE):
            return namespace == self.pattern
        root = self.pattern.removesuffix(SUBTREE)
        return namespace == root or namespace.startswith(f"{root}.")


@dataclass(frozen=True)
class Principal:
    """The holder of a token that was accepted."""

    name: str
    grants: tuple[Grant, ...]

    def may(self, namespace: str, access: Access) -> bool:
        """Whether any grant allows that."""
        return any(grant.covers(namespace, access) for grant in self.grants)

    def require(self, namespace: str, access: Access) -> None:
        """Raises AccessDenied unless a grant allows that."""
        if not self.may(namespace, access):
            raise AccessDenied(f"{self.name} has no {access.name.lower()} access to {namespace}")


@dataclass(frozen=True)
class Token:
    """An entry of the token file."""

    sha256: str
    principal: Principal
    not_after: float | None = None


class TokenBook:
    """All known tokens."""

    def __init__(self, tokens: Iterable[Token]) -> None:
        self._tokens = tuple(tokens)

    def verify(self, presented: str, now: float) -> Principal:
        """Whose token this is. Raises AccessDenied for unknown and expired ones."""
        digest = digest_of(presented)
        for token in self._tokens:
            if hmac.compare_digest(token.sha256, digest):
                if token.not_after is not None and token.not_after <= now:
                    raise AccessDenied(f"the token of {token.principal.name} has expired")
                return token.principal
        raise AccessDenied("unknown token")


def digest_of(token: str) -> str:
    """What the token file keeps of a token."""
    return hashlib.sha256(token.encode("utf-8")).hexdigest()


def load_tokens(path: Path) -> TokenBook:
    """The token file. Raises ConfigError."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from error
    return TokenBook(_token(name, entry) for name, entry in raw.get("tokens", {}).items())


def parse_grant(text: str) -> Grant:
    """A grant as in `invoices:write`. Raises ConfigError."""
    pattern, _, access = text.partition(":")
    if not pattern or access.upper() not in Access.__members__:
        raise ConfigError(f"not a grant: {text!r}; write it as in invoices:write or reports.*:read")
    return Grant(pattern, Access[access.upper()])


def _token(name: str, entry: Mapping[str, Any]) -> Token:
    try:
        grants = tuple(parse_grant(text) for text in entry["grants"])
        return Token(entry["sha256"], Principal(name, grants), entry.get("not_after"))
    except KeyError as error:
        raise ConfigError(f"token {name}: {error.args[0]} is missing") from error
