"""A small inventory with two accounts, a clock that only moves when told, and a recording webhook transport."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from stockroom.app import build
from stockroom.auth import SCOPES, Principal, TokenSigner
from stockroom.client import LocalClient
from stockroom.settings import Settings

SECRET = b"unit-test"


class Clock:
    """Time that stands still."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class World:
    """An application and clients for it."""

    def __init__(self, **settings: object) -> None:
        self.clock = Clock()
        self.sent: list[tuple[str, bytes]] = []
        self.status = 200
        self.app = build(Settings(token_secret=SECRET, **settings), self.clock, self._send, lambda seconds: None)

    def client(self, account: str = "north", scopes: frozenset[str] = SCOPES, locations: tuple[str, ...] = ()) -> LocalClient:
        principal = Principal(account, f"{account}-user", scopes, frozenset(locations))
        expires = int(self.clock().timestamp()) + 3600
        return LocalClient(self.app, TokenSigner(SECRET).issue(principal, expires))

    def _send(self, url: str, body: bytes, headers: object) -> int:
        self.sent.append((url, body))
        return self.status


def stocked(world: World) -> LocalClient:
    """A client whose account has one item and two locations."""
    client = world.client()
    client.post("/v1/items", {"sku": "BOLT-8", "name": "Bolt 8 mm"})
    client.post("/v1/locations", {"code": "A1"})
    client.post("/v1/locations", {"code": "B1", "capacity": "10"})
    client.post("/v1/items/BOLT-8/adjustments", {"location": "A1", "quantity": "20", "reason": "receipt"})
    return client
