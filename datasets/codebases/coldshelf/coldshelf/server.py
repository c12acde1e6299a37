"""The front: requests in, answers out, one log line per request. Transport is left to whoever embeds coldshelf."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from coldshelf.clock import Clock, SystemClock
from coldshelf.config import Settings, parse_duration
from coldshelf.errors import ConfigError, InvalidRequest, ShelfError
from coldshelf.metrics import Metrics
from coldshelf.namespaces import Namespaces
from coldshelf.snapshot import Snapshots
from coldshelf.tokens import Access, Principal, TokenBook, load_tokens

MAX_PAGE = 1000

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Request:
    """One call: an operation on a namespace, with the caller's token."""

    operation: str
    namespace: str
    token: str
    key: str = ""
    value: bytes = b""
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Response:
    """Status as in HTTP; `value` for reads, `data` for everything else."""

    status: int
    value: bytes = b""
    data: dict[str, Any] = field(default_factory=dict)


Handler = Callable[[Request], Response]


class Server:
    """Answers requests. Safe to use from several threads."""

    def __init__(
        self, namespaces: Namespaces, snapshots: Snapshots, tokens: TokenBook, metrics: Metrics, clock: Clock
    ) -> None:
        self.metrics = metrics
        self._namespaces = namespaces
        self._snapshots = snapshots
        self._tokens = tokens
        self._clock = clock
        self._operations: dict[str, tuple[Access, Handler]] = {
            "get": (Access.READ, self._get),
            "list": (Access.READ, self._list),
            "stats": (Access.READ, self._stats),
            "put": (Access.WRITE, self._put),
            "delete": (Access.WRITE, self._delete),
            "create": (Access.ADMIN, self._create),
            "snapshot": (Access.ADMIN, self._snapshot),
            "restore": (Access.ADMIN, self._restore),
        }

    def handle(self, request: Request) -> Response:
        """Answer one request; errors become answers, too."""
        caller = "-"
        try:
            principal = self._tokens.verify(request.token, self._clock.now())
            caller = principal.name
            response = self._dispatch(principal, request)
        except ShelfError as error:
            if error.status >= 500:
                log.exception("%s failed on %s", request.operation, request.namespace)
            response = Response(error.status, data={"error": error.code, "message": error.message})
        self.metrics.count("requests", operation=request.operation, status=str(response.status))
        log.info("%s %s/%s -> %d", caller, request.operation, request.namespace, response.status)
        return response

    def tick(self) -> None:
        """Housekeeping for all namespaces; to be called every few seconds by whoever embeds the server."""
        for name in self._namespaces.names():
            namespace = self._namespaces.get(name)
            outcome = namespace.maintain()
            self.metrics.gauge("entries", len(namespace.store), namespace=name)
            if outcome.segments:
                log.info("%s: housekeeping freed %d bytes", name, outcome.freed_bytes)

    def close(self) -> None:
        """Close all files."""
        self._namespaces.close()

    def _dispatch(self, principal: Principal, request: Request) -> Response:
        operation = self._operations.get(request.operation)
        if operation is None:
            raise InvalidRequest(f"unknown operation {request.operation!r}")
        access, handler = operation
        principal.require(request.namespace, access)
        return handler(request)

    def _get(self, request: Request) -> Response:
        return Response(200, value=self._namespaces.get(request.namespace).get(request.key))

    def _put(self, request: Request) -> Response:
        sequence = self._namespaces.get(request.namespace).put(request.key, request.value, _ttl(request))
        return Response(201, data={"sequence": sequence})

    def _delete(self, request: Request) -> Response:
        self._namespaces.get(request.namespace).delete(request.key)
        return Response(204)

    def _list(self, request: Request) -> Response:
        limit = _limit(request)
        after = request.options.get("after")
        keys = self._namespaces.get(request.namespace).keys(request.options.get("prefix", ""), after, limit)
        return Response(200, data={"keys": keys, "after": keys[-1] if len(keys) == limit else None})

    def _stats(self, request: Request) -> Response:
        return Response(200, data=dict(self._namespaces.get(request.namespace).stats()))

    def _create(self, request: Request) -> Response:
        self._namespaces.create(request.namespace)
        return Response(201)

    def _snapshot(self, request: Request) -> Response:
        namespace = self._namespaces.get(request.namespace)
        folder = self._snapshots.create(request.namespace, namespace.store)
        return Response(201, data={"snapshot": folder.name})

    def _restore(self, request: Request) -> Response:
        folder = self._namespaces.folder(request.namespace)
        self._snapshots.verify(request.namespace, request.key)
        self._namespaces.evict(request.namespace)
        manifest = self._snapshots.restore(request.namespace, request.key, folder)
        return Response(200, data={"entries": manifest.entries})


def _ttl(request: Request) -> float | None:
    raw = request.options.get("ttl")
    try:
        return None if raw is None else parse_duration(raw)
    except ConfigError as error:
        raise InvalidRequest(f"ttl: {error}") from error


def _limit(request: Request) -> int:
    raw = request.options.get("limit", 100)
    if not isinstance(raw, int) or raw < 1:
        raise InvalidRequest(f"limit must be a positive number, not {raw!r}")
    return min(raw, MAX_PAGE)


def build(settings: Settings, clock: Clock | None = None, tokens: TokenBook | None = None) -> Server:
    """Wire a server from its settings."""
    clock = clock or SystemClock()
    metrics = Metrics()
    if tokens is None:
        tokens = load_tokens(settings.token_file) if settings.token_file else TokenBook(())
    namespaces = Namespaces(settings, clock, metrics)
    snapshots = Snapshots(settings.snapshot_dir, clock, settings.keep_snapshots)
    return Server(namespaces, snapshots, tokens, metrics, clock)
