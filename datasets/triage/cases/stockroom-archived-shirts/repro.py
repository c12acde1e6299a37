"""Every item is exported, whatever its name."""

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
for number in range(212):
    name = "Gasket" if 190 <= number < 205 else f"{'A' if number < 190 else 'Z'} part {number:03d}"
    client.post("/v1/items", {"sku": f"S-{number:03d}", "name": name})

lines = client.get("/v1/export/items").body.decode("utf-8").split("\r\n")[1:-1]
assert len(lines) == 212, f"212 items, {len(lines)} exported"
