"""What is booked is what was sent, to the gram."""

from datetime import datetime, timezone

from stockroom.app import build
from stockroom.auth import SCOPES, Principal, TokenSigner
from stockroom.client import LocalClient
from stockroom.settings import Settings

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=timezone.utc)
SECRET = b"repro"

app = build(Settings(token_secret=SECRET), lambda: NOW)
token = TokenSigner(SECRET).issue(Principal("north", "repro", SCOPES), int(NOW.timestamp()) + 60)
client = LocalClient(app, token)
client.post("/v1/items", {"sku": "FLOUR", "name": "Flour", "unit": "kg"})
client.post("/v1/locations", {"code": "SILO"})
for quantity in ("4.035", "2.018", "1.005"):
    client.post("/v1/items/FLOUR/adjustments", {"location": "SILO", "quantity": quantity, "reason": "scale"})

movements = client.get("/v1/items/FLOUR/movements").json()["movements"]
booked = [movement["delta"] for movement in reversed(movements)]
assert booked == ["4.035", "2.018", "1.005"], booked
