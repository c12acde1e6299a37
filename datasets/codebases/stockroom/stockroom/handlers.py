"""One method per route: read the request, call a service, answer."""

from __future__ import annotations

from urllib.parse import urlsplit

from stockroom.errors import ValidationError
from stockroom.http import Request, Response
from stockroom.pagination import Cursor, parse_limit
from stockroom.repository import WebhookRepository
from stockroom.router import Router
from stockroom.serial import (
    csv_lines,
    item_document,
    level_document,
    movement_document,
    parse_quantity,
    reservation_document,
    text_field,
)
from stockroom.services import CatalogService, StockService
from stockroom.webhooks import EVENTS


class CatalogHandlers:
    """Routes of the catalogue."""

    def __init__(self, catalog: CatalogService, page_limit: int) -> None:
        self._catalog = catalog
        self._page_limit = page_limit

    def register(self, router: Router) -> None:
        """Add the routes."""
        router.add("GET", "/v1/items", self.index, "items:read")
        router.add("POST", "/v1/items", self.create, "items:write")
        router.add("GET", "/v1/items/{sku}", self.show, "items:read")
        router.add("PATCH", "/v1/items/{sku}", self.rename, "items:write")
        router.add("GET", "/v1/export/items", self.export, "items:read")

    def index(self, request: Request) -> Response:
        """A page of items and the cursor of the next one."""
        raw = request.query.get("cursor")
        after = Cursor.decode(raw) if raw else None
        limit = parse_limit(request.query.get("limit"), self._page_limit)
        page = self._catalog.page(request.caller, after, limit)
        return Response.of_json(
            {
                "items": [item_document(item) for item in page.rows],
                "next": page.next.encode() if page.next else None,
            }
        )

    def create(self, request: Request) -> Response:
        """A new item."""
        document = request.json()
        item = self._catalog.create(
            request.caller, text_field(document, "sku", 64), text_field(document, "name"), document.get("unit", "piece")
        )
        return Response.of_json(item_document(item), 201)

    def show(self, request: Request) -> Response:
        """One item."""
        return Response.of_json(item_document(self._catalog.get(request.caller, request.params["sku"])))

    def rename(self, request: Request) -> Response:
        """One item under its new name."""
        name = text_field(request.json(), "name")
        return Response.of_json(item_document(self._catalog.rename(request.caller, request.params["sku"], name)))

    def export(self, request: Request) -> Response:
        """All items as CSV."""
        return Response.of_text(csv_lines(self._catalog.export(request.caller)), "text/csv")


class StockHandlers:
    """Routes of levels, movements and reservations."""

    def __init__(self, stock: StockService, page_limit: int) -> None:
        self._stock = stock
        self._page_limit = page_limit

    def register(self, router: Router) -> None:
        """Add the routes."""
        router.add("POST", "/v1/locations", self.add_location, "stock:write")
        router.add("GET", "/v1/items/{sku}/levels", self.levels, "items:read")
        router.add("GET", "/v1/items/{sku}/movements", self.movements, "items:read")
        router.add("POST", "/v1/items/{sku}/adjustments", self.adjust, "stock:write")
        router.add("POST", "/v1/items/{sku}/transfers", self.transfer, "stock:write")
        router.add("POST", "/v1/items/{sku}/reservations", self.reserve, "stock:write")
        router.add("DELETE", "/v1/reservations/{reservation_id}", self.release, "stock:write")

    def add_location(self, request: Request) -> Response:
        """A new location."""
        document = request.json()
        capacity = parse_quantity(document["capacity"]) if document.get("capacity") is not None else None
        location = self._stock.add_location(request.caller, text_field(document, "code", 32), capacity)
        return Response.of_json({"code": location.code}, 201)

    def levels(self, request: Request) -> Response:
        """Where an item lies."""
        levels = self._stock.levels(request.caller, request.params["sku"])
        return Response.of_json({"levels": [level_document(level) for level in levels]})

    def movements(self, request: Request) -> Response:
        """The newest movements of an item."""
        limit = parse_limit(request.query.get("limit"), self._page_limit)
        movements = self._stock.movements(request.caller, request.params["sku"], limit)
        return Response.of_json({"movements": [movement_document(movement) for movement in movements]})

    def adjust(self, request: Request) -> Response:
        """The level after a receipt, withdrawal or correction."""
        document = request.json()
        level = self._stock.adjust(
            request.caller,
            request.params["sku"],
            text_field(document, "location", 32),
            parse_quantity(document.get("quantity")),
            text_field(document, "reason"),
        )
        return Response.of_json(level_document(level))

    def transfer(self, request: Request) -> Response:
        """Both levels after a transfer."""
        document = request.json()
        levels = self._stock.transfer(
            request.caller,
            request.params["sku"],
            text_field(document, "from", 32),
            text_field(document, "to", 32),
            parse_quantity(document.get("quantity")),
        )
        return Response.of_json({"levels": [level_document(level) for level in levels]})

    def reserve(self, request: Request) -> Response:
        """A new reservation."""
        document = request.json()
        reservation = self._stock.reserve(
            request.caller,
            request.params["sku"],
            text_field(document, "location", 32),
            parse_quantity(document.get("quantity")),
        )
        return Response.of_json(reservation_document(reservation), 201)

    def release(self, request: Request) -> Response:
        """Nothing left of a reservation."""
        self._stock.release(request.caller, request.params["reservation_id"])
        return Response(204)


class WebhookHandlers:
    """Routes of webhook subscriptions."""

    def __init__(self, webhooks: WebhookRepository) -> None:
        self._webhooks = webhooks

    def register(self, router: Router) -> None:
        """Add the routes."""
        router.add("POST", "/v1/webhooks", self.subscribe, "webhooks:write")

    def subscribe(self, request: Request) -> Response:
        """A new subscription."""
        document = request.json()
        event, url = text_field(document, "event"), text_field(document, "url", 500)
        if event not in EVENTS:
            raise ValidationError(f"event must be one of {', '.join(sorted(EVENTS))}")
        if urlsplit(url).scheme != "https":
            raise ValidationError("a webhook URL must use https")
        return Response.of_json({"id": self._webhooks.add(request.caller.account, event, url)}, 201)


def healthz(request: Request) -> Response:
    """Alive, and nothing more."""
    return Response.of_json({"status": "ok"})
