"""SQL and nothing else: rows in, values out. Every query names the account."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from stockroom.database import Database
from stockroom.errors import Conflict, NotFound
from stockroom.models import Item, Level, Location, Movement, Reservation
from stockroom.pagination import Cursor, Page, page_of
from stockroom.serial import format_time, parse_time


class ItemRepository:
    """Items of the catalogue."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(self, account: str, sku: str, name: str, unit: str, now: datetime) -> Item:
        """Insert an item. Raises Conflict if the account has this SKU already."""
        try:
            self._db.run(
                "INSERT INTO items (account, sku, name, unit, created_at) VALUES (?, ?, ?, ?, ?)",
                (account, sku, name, unit, format_time(now)),
            )
        except sqlite3.IntegrityError:
            raise Conflict(f"SKU {sku} exists already", "sku_taken") from None
        return self.by_sku(account, sku)

    def by_sku(self, account: str, sku: str) -> Item:
        """One item. Raises NotFound."""
        row = self._db.one("SELECT * FROM items WHERE account = ? AND sku = ?", (account, sku))
        if row is None:
            raise NotFound(f"no item with SKU {sku}", "item_not_found")
        return _item(row)

    def rename(self, account: str, sku: str, name: str) -> Item:
        """Give an item another name. Raises NotFound."""
        self._db.run("UPDATE items SET name = ? WHERE account = ? AND sku = ?", (name, account, sku))
        return self.by_sku(account, sku)

    def page(self, account: str, after: Cursor | None, limit: int) -> Page[Item]:
        """Items in the order of their names, at most `limit`, starting behind `after`."""
        where = "account = ?"
        parameters: list[object] = [account]
        if after is not None:
            where += " AND (name > ? OR (name = ? AND id > ?))"
            parameters += [after.key, after.key, after.row_id]
        rows = self._db.all(
            f"SELECT * FROM items WHERE {where} ORDER BY name, id LIMIT ?", [*parameters, limit + 1]
        )
        return page_of([_item(row) for row in rows], limit, lambda item: Cursor(item.name, item.id))


class LocationRepository:
    """Places that hold stock."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(self, account: str, code: str, capacity: int | None) -> Location:
        """Insert a location. Raises Conflict if the code is taken."""
        try:
            self._db.run(
                "INSERT INTO locations (account, code, capacity) VALUES (?, ?, ?)", (account, code, capacity)
            )
        except sqlite3.IntegrityError:
            raise Conflict(f"location {code} exists already", "location_taken") from None
        return self.by_code(account, code)

    def by_code(self, account: str, code: str) -> Location:
        """One location. Raises NotFound."""
        row = self._db.one("SELECT * FROM locations WHERE account = ? AND code = ?", (account, code))
        if row is None:
            raise NotFound(f"no location {code}", "location_not_found")
        return Location(row["id"], row["account"], row["code"], row["capacity"])

    def load(self, location: Location) -> int:
        """Everything that lies at a location, all items together, in thousandths."""
        row = self._db.one(
            "SELECT COALESCE(SUM(quantity), 0) AS total FROM levels WHERE location_id = ?", (location.id,)
        )
        return int(row["total"]) if row is not None else 0


class StockRepository:
    """Levels, movements and reservations."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def levels(self, item: Item, now: datetime) -> list[Level]:
        """The levels of an item at all locations that ever held it."""
        rows = self._db.all(
            """SELECT l.code, v.quantity, COALESCE((
                   SELECT SUM(r.quantity) FROM reservations r
                   WHERE r.item_id = v.item_id AND r.location_id = v.location_id AND r.expires_at > ?), 0) AS reserved
               FROM levels v JOIN locations l ON l.id = v.location_id
               WHERE v.item_id = ? ORDER BY l.code""",
            (format_time(now), item.id),
        )
        return [Level(row["code"], row["quantity"], row["reserved"]) for row in rows]

    def level(self, item: Item, location: Location, now: datetime) -> Level:
        """One level; zero where the item never was."""
        for level in self.levels(item, now):
            if level.location == location.code:
                return level
        return Level(location.code, 0, 0)

    def book(self, item: Item, location: Location, delta: int, reason: str, actor: str, now: datetime) -> Movement:
        """Change a level and write the movement down. The caller holds the transaction."""
        self._db.run(
            """INSERT INTO levels (item_id, location_id, quantity) VALUES (?, ?, 0)
               ON CONFLICT (item_id, location_id) DO NOTHING""",
            (item.id, location.id),
        )
        self._db.run(
            "UPDATE levels SET quantity = quantity + ? WHERE item_id = ? AND location_id = ?",
            (delta, item.id, location.id),
        )
        cursor = self._db.run(
            "INSERT INTO movements (item_id, location_id, delta, reason, actor, at) VALUES (?, ?, ?, ?, ?, ?)",
            (item.id, location.id, delta, reason, actor, format_time(now)),
        )
        return Movement(int(cursor.lastrowid or 0), location.code, delta, reason, actor, now)

    def movements(self, item: Item, limit: int) -> list[Movement]:
        """The newest movements of an item, newest first."""
        rows = self._db.all(
            """SELECT m.id, l.code, m.delta, m.reason, m.actor, m.at
               FROM movements m JOIN locations l ON l.id = m.location_id
               WHERE m.item_id = ? ORDER BY m.id DESC LIMIT ?""",
            (item.id, limit),
        )
        return [
            Movement(row["id"], row["code"], row["delta"], row["reason"], row["actor"], parse_time(row["at"]))
            for row in rows
        ]

    def reserve(self, account: str, reservation: Reservation) -> None:
        """Write a reservation down."""
        self._db.run(
            "INSERT INTO reservations (id, account, item_id, location_id, quantity, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
            (
                reservation.id,
                account,
                reservation.item_id,
                reservation.location_id,
                reservation.quantity,
                format_time(reservation.expires_at),
            ),
        )

    def release(self, account: str, reservation_id: str) -> None:
        """Delete a reservation. Raises NotFound."""
        cursor = self._db.run("DELETE FROM reservations WHERE id = ? AND account = ?", (reservation_id, account))
        if cursor.rowcount == 0:
            raise NotFound("no such reservation", "reservation_not_found")


class WebhookRepository:
    """Who wants to hear about what."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(self, account: str, event: str, url: str) -> int:
        """Subscribe a URL to an event; returns the subscription's id."""
        cursor = self._db.run("INSERT INTO webhooks (account, event, url) VALUES (?, ?, ?)", (account, event, url))
        return int(cursor.lastrowid or 0)

    def urls(self, account: str, event: str) -> list[str]:
        """The URLs subscribed to an event, oldest first."""
        rows = self._db.all("SELECT url FROM webhooks WHERE account = ? AND event = ? ORDER BY id", (account, event))
        return [row["url"] for row in rows]


def _item(row: sqlite3.Row) -> Item:
    return Item(row["id"], row["account"], row["sku"], row["name"], row["unit"], parse_time(row["created_at"]))
