"""A shelf in a temporary folder, with a clock that only moves when told."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from coldshelf.clock import ManualClock
from coldshelf.config import NamespaceSettings, Settings
from coldshelf.metrics import Metrics
from coldshelf.namespaces import Namespaces
from coldshelf.server import Request, Response, Server, build
from coldshelf.store import Store
from coldshelf.tokens import Principal, Token, TokenBook, digest_of, parse_grant

START = 1_780_000_000.0


class ShelfTest(unittest.TestCase):
    """Every test has its own folder and clock."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.clock = ManualClock(START)

    def settings(self, segment_size: int = 400, **namespace: object) -> Settings:
        return Settings(
            data_dir=self.folder / "data",
            snapshot_dir=self.folder / "snapshots",
            segment_size=segment_size,
            fsync=False,
            keep_snapshots=2,
            defaults=NamespaceSettings(**namespace),
        )

    def store(self, segment_size: int = 400) -> Store:
        store = Store(self.folder / "store", self.clock, segment_size=segment_size, max_value=1000, fsync=False)
        self.addCleanup(store.close)
        return store

    def namespaces(self, **settings: object) -> Namespaces:
        namespaces = Namespaces(self.settings(**settings), self.clock, Metrics())
        self.addCleanup(namespaces.close)
        return namespaces

    def server(self, *grants: str, **settings: object) -> Caller:
        principal = Principal("tester", tuple(parse_grant(grant) for grant in grants))
        book = TokenBook([Token(digest_of("secret"), principal, not_after=START + 3600)])
        server = build(self.settings(**settings), self.clock, book)
        self.addCleanup(server.close)
        return Caller(server)


class Caller:
    """Calls a server with the token of the test."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def call(self, operation: str, namespace: str, key: str = "", value: bytes = b"", **options: object) -> Response:
        return self.server.handle(Request(operation, namespace, "secret", key, value, options))
