"""A new name is seen within the cache's lifetime however busy the item is, and at once where the cache is off."""

import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path

from stockroom.app import build
from stockroom.auth import SCOPES, Principal, TokenSigner
from stockroom.client import LocalClient
from stockroom.settings import Settings

START = datetime(2026, 3, 2, 8, 0, tzinfo=timezone.utc)
SECRET = "repro"


def name_at_the_other_worker(reads: int, extra: dict[str, str]) -> str:
    """One worker renames; what the other one says after answering `reads` times, ten seconds apart."""
    now = [START]
    token = TokenSigner(SECRET.encode()).issue(Principal("north", "repro", SCOPES), int(START.timestamp()) + 600)
    with tempfile.TemporaryDirectory() as folder:
        env = {"STOCKROOM_TOKEN_SECRET": SECRET, "STOCKROOM_DATABASE": str(Path(folder) / "stock.db"), **extra}
        here, there = (LocalClient(build(Settings.from_env(env), lambda: now[0]), token) for _ in range(2))
        here.post("/v1/items", {"sku": "HOSE-12", "name": "Hose"})
        there.get("/v1/items/HOSE-12")
        here.call("PATCH", "/v1/items/HOSE-12", {"name": "Garden hose"})
        for _ in range(reads):
            there.get("/v1/items/HOSE-12")
            now[0] += timedelta(seconds=10)
        return there.get("/v1/items/HOSE-12").json()["name"]


names = {
    "read often, 40 seconds later": name_at_the_other_worker(4, {}),
    "cache switched off": name_at_the_other_worker(0, {"STOCKROOM_CACHE_SECONDS": "0"}),
}
assert set(names.values()) == {"Garden hose"}, names
