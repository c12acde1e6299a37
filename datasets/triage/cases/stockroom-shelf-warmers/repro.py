"""The history of an item can be read after an update, also where its stock is older than any booking."""

import tempfile
from datetime import datetime, timezone
from pathlib import Path

from stockroom.app import build
from stockroom.auth import SCOPES, Principal, TokenSigner
from stockroom.client import LocalClient
from stockroom.database import Database
from stockroom.migrations import STEPS
from stockroom.settings import Settings

SECRET = b"repro"
RELEASED = 5  # steps of the schema in the release that is updated
NOW = datetime(2026, 11, 10, 8, 0, tzinfo=timezone.utc)


def older_installation(path: Path) -> None:
    """A database of the last release, with stock that was loaded straight into the tables."""
    database = Database(str(path))
    for _, statements in STEPS[:RELEASED]:
        for statement in statements:
            database.run(statement)
    database.run(f"PRAGMA user_version = {RELEASED}")
    database.run(
        "INSERT INTO items (account, sku, name, created_at) VALUES ('north', 'RL-2205', 'Roller', '2023-04-03T09:12:00Z')"
    )
    database.run("INSERT INTO locations (account, code) VALUES ('north', 'C4')")
    database.run("INSERT INTO levels VALUES (1, 1, 36000)")
    database.close()


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "stock.db"
    older_installation(path)
    token = TokenSigner(SECRET).issue(Principal("north", "repro", SCOPES), int(NOW.timestamp()) + 600)
    client = LocalClient(build(Settings(token_secret=SECRET, database=str(path)), lambda: NOW), token)
    assert client.get("/v1/items/RL-2205/levels").status == 200
    answer = client.get("/v1/items/RL-2205/movements")
    assert answer.status == 200, f"the history answers {answer.status}: {answer.body!r}"
