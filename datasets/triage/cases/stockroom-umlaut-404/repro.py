"""An item whose SKU is not ASCII can be read back."""

from datetime import datetime, timezone
from urllib.parse import quote

from stockroom.app import build
from stockroom.auth import SCOPES, Principal, TokenSigner
from stockroom.client import LocalClient
from stockroom.settings import Settings

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=timezone.utc)
SECRET = b"repro"

app = build(Settings(token_secret=SECRET), lambda: NOW)
token = TokenSigner(SECRET).issue(Principal("north", "repro", SCOPES), int(NOW.timestamp()) + 60)
client = LocalClient(app, token)
sku = "BÜGEL-Ø6"
client.post("/v1/items", {"sku": sku, "name": "Bügel 6 mm"})

answer = client.get("/v1/items/" + quote(sku))
assert answer.status == 200, answer.body.decode("utf-8")
