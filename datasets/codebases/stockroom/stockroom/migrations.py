"""The schema, as an ordered list of steps; `PRAGMA user_version` counts those already taken."""

from __future__ import annotations

import logging

from stockroom.database import Database

log = logging.getLogger(__name__)

STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "items, locations, levels",
        (
            """CREATE TABLE items (
                 id INTEGER PRIMARY KEY, account TEXT NOT NULL, sku TEXT NOT NULL, name TEXT NOT NULL,
                 unit TEXT NOT NULL DEFAULT 'piece', created_at TEXT NOT NULL, UNIQUE (account, sku))""",
            """CREATE TABLE locations (
                 id INTEGER PRIMARY KEY, account TEXT NOT NULL, code TEXT NOT NULL, capacity INTEGER,
                 UNIQUE (account, code))""",
            """CREATE TABLE levels (
                 item_id INTEGER NOT NULL REFERENCES items (id), location_id INTEGER NOT NULL REFERENCES locations (id),
                 quantity INTEGER NOT NULL CHECK (quantity >= 0), PRIMARY KEY (item_id, location_id))""",
        ),
    ),
    (
        "movements",
        (
            """CREATE TABLE movements (
                 id INTEGER PRIMARY KEY, item_id INTEGER NOT NULL REFERENCES items (id),
                 location_id INTEGER NOT NULL REFERENCES locations (id), delta INTEGER NOT NULL, reason TEXT NOT NULL,
                 actor TEXT NOT NULL, at TEXT NOT NULL)""",
            "CREATE INDEX movements_by_item ON movements (item_id, id)",
        ),
    ),
    (
        "reservations",
        (
            """CREATE TABLE reservations (
                 id TEXT PRIMARY KEY, account TEXT NOT NULL, item_id INTEGER NOT NULL REFERENCES items (id),
                 location_id INTEGER NOT NULL REFERENCES locations (id), quantity INTEGER NOT NULL,
                 expires_at TEXT NOT NULL)""",
        ),
    ),
    (
        "webhooks",
        ("CREATE TABLE webhooks (id INTEGER PRIMARY KEY, account TEXT NOT NULL, event TEXT NOT NULL, url TEXT NOT NULL)",),
    ),
    ("items by name", ("CREATE INDEX items_by_name ON items (account, name, id)",)),
)


def migrate(database: Database) -> int:
    """Take every step that is missing, each in its own transaction; returns the schema version."""
    row = database.one("PRAGMA user_version")
    version = int(row[0]) if row is not None else 0
    for number, (title, statements) in enumerate(STEPS, start=1):
        if number <= version:
            continue
        log.info("migration %d: %s", number, title)
        with database.transaction():
            for statement in statements:
                database.run(statement)
            database.run(f"PRAGMA user_version = {number}")
    return len(STEPS)
