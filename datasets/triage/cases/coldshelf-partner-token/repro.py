"""A grant on a subtree ends at the dot: a neighbour whose name begins alike is not in it."""

import tempfile
from pathlib import Path

from coldshelf.clock import ManualClock
from coldshelf.config import Settings
from coldshelf.server import Request, build
from coldshelf.tokens import Principal, Token, TokenBook, digest_of, parse_grant

OURS, THEIRS = "ours", "theirs"


def token(secret: str, name: str, *grants: str) -> Token:
    return Token(digest_of(secret), Principal(name, tuple(parse_grant(grant) for grant in grants)))


with tempfile.TemporaryDirectory() as folder:
    namespaces = ("orders", "orders.eu", "orders-internal")
    book = TokenBook(
        [
            token(OURS, "backoffice", *(f"{name}:admin" for name in namespaces)),
            token(THEIRS, "partner", "orders.*:read"),
        ]
    )
    settings = Settings(data_dir=Path(folder) / "data", snapshot_dir=Path(folder) / "snapshots", fsync=False)
    server = build(settings, ManualClock(), book)
    for name in namespaces:
        server.handle(Request("create", name, OURS))
        server.handle(Request("put", name, OURS, "9001", b"..."))
    statuses = [server.handle(Request("get", name, THEIRS, "9001")).status for name in namespaces]
    server.close()

assert statuses == [200, 200, 403], statuses
