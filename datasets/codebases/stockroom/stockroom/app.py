"""The WSGI application: everything wired together, errors mapped to answers, one log line per call."""

from __future__ import annotations

import logging
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from stockroom.auth import TokenSigner
from stockroom.cache import TtlCache
from stockroom.database import Database
from stockroom.errors import StockroomError
from stockroom.handlers import CatalogHandlers, StockHandlers, WebhookHandlers, healthz
from stockroom.http import Request, Response
from stockroom.migrations import migrate
from stockroom.models import Item
from stockroom.repository import ItemRepository, LocationRepository, StockRepository, WebhookRepository
from stockroom.router import Router
from stockroom.services import CatalogService, StockService
from stockroom.settings import Settings
from stockroom.webhooks import Dispatcher, Transport, urllib_transport

log = logging.getLogger(__name__)

StartResponse = Callable[[str, list[tuple[str, str]]], object]


class Application:
    """Answers WSGI calls. Errors of the API become JSON; anything else is logged and becomes a bare 500."""

    def __init__(self, router: Router, signer: TokenSigner, clock: Callable[[], datetime]) -> None:
        self._router = router
        self._signer = signer
        self._clock = clock

    def __call__(self, environ: Mapping[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        request_id = environ.get("HTTP_X_REQUEST_ID") or uuid.uuid4().hex[:12]
        started = time.perf_counter()
        response = self._answer(environ, request_id)
        log.info(
            "%s %s -> %d in %.1f ms [%s]",
            environ.get("REQUEST_METHOD"),
            environ.get("PATH_INFO"),
            response.status,
            (time.perf_counter() - started) * 1000,
            request_id,
        )
        start_response(response.status_line, [*response.header_list(), ("X-Request-Id", request_id)])
        return [response.body]

    def _answer(self, environ: Mapping[str, Any], request_id: str) -> Response:
        try:
            return self._dispatch(Request.from_environ(environ, request_id))
        except StockroomError as error:
            return _error_response(error.status, error.code, error.message, request_id)
        except Exception:
            log.exception("unhandled error [%s]", request_id)
            return _error_response(500, "internal_error", "something went wrong on our side", request_id)

    def _dispatch(self, request: Request) -> Response:
        match = self._router.match(request.method, request.path)
        principal = None
        if match.route.scope is not None:
            principal = self._signer.verify(request.bearer_token(), self._clock().timestamp())
            principal.require_scope(match.route.scope)
        return match.route.handler(request.routed(match.params, principal))


def _error_response(status: int, code: str, message: str, request_id: str) -> Response:
    return Response.of_json({"error": code, "message": message, "request_id": request_id}, status)


def utc_now() -> datetime:
    """The wall clock."""
    return datetime.now(UTC)


def build(
    settings: Settings,
    clock: Callable[[], datetime] = utc_now,
    transport: Transport | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Application:
    """Wire an application; the schema is brought up to date on the way."""
    database = Database(settings.database)
    migrate(database)
    items, locations, stock = ItemRepository(database), LocationRepository(database), StockRepository(database)
    webhooks = WebhookRepository(database)
    dispatcher = Dispatcher(
        webhooks,
        settings.token_secret,
        transport or urllib_transport(settings.webhook_timeout_seconds),
        settings.webhook_attempts,
        sleep,
    )
    cache: TtlCache[Item] = TtlCache(settings.cache_seconds, settings.cache_entries, lambda: clock().timestamp())
    catalog = CatalogService(items, cache, clock)
    service = StockService(database, catalog, locations, stock, dispatcher, clock, settings.reservation_minutes)
    router = Router()
    router.add("GET", "/healthz", healthz, None)
    CatalogHandlers(catalog, settings.page_limit).register(router)
    StockHandlers(service, settings.page_limit).register(router)
    WebhookHandlers(webhooks).register(router)
    return Application(router, TokenSigner(settings.token_secret, settings.clock_leeway_seconds), clock)


def create() -> Application:
    """The application as a WSGI server loads it, configured from the environment."""
    settings = Settings.from_env()
    logging.basicConfig(level=settings.log_level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    return build(settings)


def main(arguments: list[str]) -> None:
    """Serve on loopback for development."""
    from wsgiref.simple_server import make_server

    port = int(arguments[0]) if arguments else 8080
    with make_server("127.0.0.1", port, create()) as server:
        server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
