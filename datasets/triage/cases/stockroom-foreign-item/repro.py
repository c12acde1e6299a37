"""An account never sees what belongs to another one."""

from datetime import datetime, timezone

from stockroom.app import build
from stockroom.auth import SCOPES, Principal, TokenSigner
from stockroom.client import LocalClient
from stockroom.settings import Settings

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=timezone.utc)
SECRET = b"repro"

app = build(Settings(token_secret=SECRET), lambda: NOW)


def client_of(account: str) -> LocalClient:
    principal = Principal(account, f"{account}-user", SCOPES)
    return LocalClient(app, TokenSigner(SECRET).issue(principal, int(NOW.timestamp()) + 60))


north, south = client_of("north"), client_of("south")
north.post("/v1/items", {"sku": "1001", "name": "North pallet"})
south.post("/v1/items", {"sku": "1001", "name": "South crate"})
north.get("/v1/items/1001")

name = south.get("/v1/items/1001").json()["name"]
assert name == "South crate", name
