"""The SQLite connection and its transactions."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

log = logging.getLogger(__name__)


class Database:
    """One connection shared by the threads of a worker; a lock keeps transactions apart."""

    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
        self._connection.row_factory = sqlite3.Row
        self._connection.execute("PRAGMA foreign_keys = ON")
        self._lock = threading.RLock()
        self._depth = 0

    def all(self, sql: str, parameters: Sequence[object] = ()) -> list[sqlite3.Row]:
        """All rows of a query."""
        with self._lock:
            return self._connection.execute(sql, parameters).fetchall()

    def one(self, sql: str, parameters: Sequence[object] = ()) -> sqlite3.Row | None:
        """The first row of a query, or None."""
        with self._lock:
            row: sqlite3.Row | None = self._connection.execute(sql, parameters).fetchone()
            return row

    def run(self, sql: str, parameters: Sequence[object] = ()) -> sqlite3.Cursor:
        """Execute a statement; the cursor tells `lastrowid` and `rowcount`."""
        with self._lock:
            return self._connection.execute(sql, parameters)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing. Nested blocks join the outer transaction."""
        with self._lock:
            if self._depth == 0:
                self._connection.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield
            except BaseException:
                self._depth -= 1
                if self._depth == 0:
                    self._connection.execute("ROLLBACK")
                    log.info("transaction rolled back")
                raise
            self._depth -= 1
            if self._depth == 0:
                self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()
