"""Bearer tokens: signed, expiring, bound to one account."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import Any

from stockroom.errors import Forbidden, Unauthorized

SCOPES = frozenset({"items:read", "items:write", "stock:write", "webhooks:write"})


@dataclass(frozen=True)
class Principal:
    """Whom a token speaks for. An empty `locations` means: all of them."""

    account: str
    subject: str
    scopes: frozenset[str]
    locations: frozenset[str] = frozenset()

    def require_scope(self, scope: str) -> None:
        """Raise Forbidden unless the token carries `scope`."""
        if scope not in self.scopes:
            raise Forbidden(f"this token lacks the scope {scope}", "scope_missing")

    def require_location(self, code: str) -> None:
        """Raise Forbidden if the token is restricted to other locations."""
        if self.locations and code not in self.locations:
            raise Forbidden(f"this token may not touch location {code}", "location_forbidden")


class TokenSigner:
    """Issues and verifies tokens of the form `v1.<payload>.<signature>`."""

    def __init__(self, secret: bytes, leeway_seconds: int = 30) -> None:
        self._secret = secret
        self._leeway = leeway_seconds

    def issue(self, principal: Principal, expires_at: int) -> str:
        """Sign a token that is valid until `expires_at` (Unix seconds)."""
        claims = {
            "acc": principal.account,
            "sub": principal.subject,
            "scp": sorted(principal.scopes),
            "loc": sorted(principal.locations),
            "exp": expires_at,
        }
        payload = _encode(json.dumps(claims, separators=(",", ":"), sort_keys=True).encode("utf-8"))
        return f"v1.{payload}.{self._signature(payload)}"

    def verify(self, token: str, now: float) -> Principal:
        """Return the token's principal. Raises Unauthorized for a forged, garbled or expired token."""
        version, _, rest = token.partition(".")
        payload, _, signature = rest.partition(".")
        if version != "v1" or not signature:
            raise Unauthorized("token is malformed", "token_malformed")
        if not hmac.compare_digest(signature.encode("utf-8"), self._signature(payload).encode("utf-8")):
            raise Unauthorized("token signature does not match", "token_forged")
        claims = _claims(payload)
        if now > claims["exp"] + self._leeway:
            raise Unauthorized("token has expired", "token_expired")
        return Principal(
            account=claims["acc"],
            subject=claims["sub"],
            scopes=frozenset(claims["scp"]) & SCOPES,
            locations=frozenset(claims["loc"]),
        )

    def _signature(self, payload: str) -> str:
        digest = hmac.new(self._secret, payload.encode("utf-8"), hashlib.sha256).digest()
        return _encode(digest)


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def _claims(payload: str) -> dict[str, Any]:
    try:
        raw = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
        claims: dict[str, Any] = json.loads(raw)
    except (binascii.Error, ValueError) as error:
        raise Unauthorized("token is malformed", "token_malformed") from error
    return claims
