"""The rules of the inventory, between the HTTP handlers and the SQL."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from stockroom.auth import Principal
from stockroom.cache import TtlCache
from stockroom.database import Database
from stockroom.errors import Conflict, ValidationError
from stockroom.models import Item, Level, Location, Movement, Reservation
from stockroom.pagination import Cursor, Page
from stockroom.repository import ItemRepository, LocationRepository, StockRepository
from stockroom.serial import format_quantity
from stockroom.webhooks import Dispatcher

log = logging.getLogger(__name__)

Clock = Callable[[], datetime]
UNITS = frozenset({"piece", "kg", "litre", "metre"})
EXPORT_BATCH = 200


class CatalogService:
    """Items: create, look up, rename, list, export."""

    def __init__(self, items: ItemRepository, cache: TtlCache[Item], clock: Clock) -> None:
        self._items = items
        self._cache = cache
        self._clock = clock

    def create(self, caller: Principal, sku: str, name: str, unit: str) -> Item:
        """Add an item to the caller's catalogue."""
        if unit not in UNITS:
            raise ValidationError(f"unit must be one of {', '.join(sorted(UNITS))}")
        if "/" in sku:
            raise ValidationError("a SKU must not contain a slash")
        item = self._items.add(caller.account, sku, name, unit, self._clock())
        log.info("item %s created by %s", sku, caller.subject)
        return item

    def get(self, caller: Principal, sku: str) -> Item:
        """One item of the caller's catalogue, from the cache if it is fresh."""
        return self._cache.get_or_load(
            _item_key(caller, sku), lambda: self._items.by_sku(caller.account, sku)
        )

    def rename(self, caller: Principal, sku: str, name: str) -> Item:
        """Rename an item and forget its cached form."""
        item = self._items.rename(caller.account, sku, name)
        self._cache.discard(_item_key(caller, sku))
        return item

    def page(self, caller: Principal, after: Cursor | None, limit: int) -> Page[Item]:
        """One page of the catalogue by name."""
        return self._items.page(caller.account, after, limit)

    def export(self, caller: Principal) -> Iterator[Item]:
        """The whole catalogue by name, fetched in batches."""
        after: Cursor | None = None
        while True:
            page = self._items.page(caller.account, after, EXPORT_BATCH)
            yield from page.rows
            if page.next is None:
                return
            after = page.next


class StockService:
    """Levels: adjust, transfer, reserve. Every change is one transaction and one event."""

    def __init__(
        self,
        database: Database,
        catalog: CatalogService,
        locations: LocationRepository,
        stock: StockRepository,
        dispatcher: Dispatcher,
        clock: Clock,
        reservation_minutes: int,
    ) -> None:
        self._db = database
        self._catalog = catalog
        self._locations = locations
        self._stock = stock
        self._dispatcher = dispatcher
        self._clock = clock
        self._hold = timedelta(minutes=reservation_minutes)

    def add_location(self, caller: Principal, code: str, capacity: int | None) -> Location:
        """Open a location."""
        caller.require_location(code)
        return self._locations.add(caller.account, code, capacity)

    def levels(self, caller: Principal, sku: str) -> list[Level]:
        """Where an item lies."""
        return self._stock.levels(self._catalog.get(caller, sku), self._clock())

    def movements(self, caller: Principal, sku: str, limit: int) -> list[Movement]:
        """What happened to an item lately."""
        return self._stock.movements(self._catalog.get(caller, sku), limit)

    def adjust(self, caller: Principal, sku: str, code: str, delta: int, reason: str) -> Level:
        """Book a receipt, a withdrawal or a correction."""
        if delta == 0:
            raise ValidationError("an adjustment of zero changes nothing")
        item, location = self._catalog.get(caller, sku), self._location(caller, code)
        with self._db.transaction():
            self._book(caller, item, location, delta, reason)
            level = self._stock.level(item, location, self._clock())
        self._announce(caller, item, level)
        return level

    def transfer(self, caller: Principal, sku: str, source: str, target: str, quantity: int) -> tuple[Level, Level]:
        """Move stock between two locations; both levels change or neither does."""
        if quantity <= 0:
            raise ValidationError("a transfer needs a positive quantity")
        if source == target:
            raise ValidationError("source and target are the same location")
        item = self._catalog.get(caller, sku)
        origin, goal = self._location(caller, source), self._location(caller, target)
        with self._db.transaction():
            self._book(caller, item, origin, -quantity, f"transfer to {target}")
            self._book(caller, item, goal, quantity, f"transfer from {source}")
            now = self._clock()
            levels = self._stock.level(item, origin, now), self._stock.level(item, goal, now)
        for level in levels:
            self._announce(caller, item, level)
        return levels

    def reserve(self, caller: Principal, sku: str, code: str, quantity: int) -> Reservation:
        """Promise stock for a while."""
        if quantity <= 0:
            raise ValidationError("a reservation needs a positive quantity")
        item, location = self._catalog.get(caller, sku), self._location(caller, code)
        with self._db.transaction():
            now = self._clock()
            self._require_available(item, location, quantity, now)
            reservation = Reservation(secrets.token_hex(8), item.id, location.id, quantity, now + self._hold)
            self._stock.reserve(caller.account, reservation)
        self._dispatcher.publish(caller.account, "stock.reserved", {"sku": sku, "location": code})
        return reservation

    def release(self, caller: Principal, reservation_id: str) -> None:
        """Take a promise back."""
        self._stock.release(caller.account, reservation_id)

    def _location(self, caller: Principal, code: str) -> Location:
        caller.require_location(code)
        return self._locations.by_code(caller.account, code)

    def _book(self, caller: Principal, item: Item, location: Location, delta: int, reason: str) -> None:
        now = self._clock()
        if delta < 0:
            self._require_available(item, location, -delta, now)
        elif location.capacity is not None and self._locations.load(location) + delta > location.capacity:
            raise Conflict(f"location {location.code} is full", "location_full")
        self._stock.book(item, location, delta, reason, caller.subject, now)

    def _require_available(self, item: Item, location: Location, quantity: int, now: datetime) -> None:
        available = self._stock.level(item, location, now).available
        if available < quantity:
            raise Conflict(
                f"only {format_quantity(available)} of {item.sku} available at {location.code}", "not_enough_stock"
            )

    def _announce(self, caller: Principal, item: Item, level: Level) -> None:
        payload = {"sku": item.sku, "location": level.location, "quantity": format_quantity(level.quantity)}
        self._dispatcher.publish(caller.account, "stock.changed", payload)


def _item_key(caller: Principal, sku: str) -> tuple[str, str, str]:
    return ("item", caller.account, sku)
