"""The SQLite file: one table of jobs, one of recurring entries.

Every write is a single statement, and every write that depends on what was read before states what it
expects (`update_if`), so that several processes may share the file.
"""

import sqlite3
import threading
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from taskmill.clock import from_text, to_text
from taskmill.errors import JobNotFoundError
from taskmill.jobs import FINISHED_STATES, READY_STATES, Job, JobState, NewJob
from taskmill.serialization import dump_arguments, load_arguments

_SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task TEXT NOT NULL,
    queue TEXT NOT NULL,
    payload TEXT NOT NULL,
    priority INTEGER NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    max_attempts INTEGER NOT NULL,
    run_at TEXT NOT NULL,
    created_at TEXT NOT NULL,
    unique_key TEXT,
    lease_owner TEXT,
    lease_token TEXT,
    lease_until TEXT,
    finished_at TEXT,
    error TEXT
);
CREATE INDEX IF NOT EXISTS jobs_ready ON jobs (queue, state, priority, run_at);
CREATE INDEX IF NOT EXISTS jobs_unique ON jobs (unique_key, state);
CREATE TABLE IF NOT EXISTS recurring (
    name TEXT PRIMARY KEY,
    last_fire TEXT NOT NULL
);
"""

_MUTABLE = frozenset(
    {"state", "attempts", "run_at", "lease_owner", "lease_token", "lease_until", "finished_at", "error"}
)


def _to_column(value: Any) -> Any:
    if isinstance(value, datetime):
        return to_text(value)
    return value.value if isinstance(value, JobState) else value


def _moment(text: str | None) -> datetime | None:
    return None if text is None else from_text(text)


def _to_job(row: sqlite3.Row) -> Job:
    args, kwargs = load_arguments(row["payload"])
    return Job(
        id=row["id"],
        task=row["task"],
        queue=row["queue"],
        args=args,
        kwargs=kwargs,
        priority=row["priority"],
        state=JobState(row["state"]),
        attempts=row["attempts"],
        max_attempts=row["max_attempts"],
        run_at=from_text(row["run_at"]),
        created_at=from_text(row["created_at"]),
        unique_key=row["unique_key"],
        lease_owner=row["lease_owner"],
        lease_token=row["lease_token"],
        lease_until=_moment(row["lease_until"]),
        finished_at=_moment(row["finished_at"]),
        error=row["error"],
    )


class JobStore:
    """One connection to the file, safe to share between the threads of a process."""

    def __init__(self, path: str) -> None:
        self._lock = threading.RLock()
        self._connection = sqlite3.connect(path, timeout=30.0, isolation_level=None, check_same_thread=False)
        self._connection.row_factory = sqlite3.Row
        self._connection.executescript(_SCHEMA)

    def close(self) -> None:
        self._connection.close()

    def _query(self, sql: str, values: Iterable[Any] = ()) -> list[sqlite3.Row]:
        with self._lock:
            return self._connection.execute(sql, tuple(values)).fetchall()

    def _write(self, sql: str, values: Iterable[Any] = ()) -> sqlite3.Cursor:
        with self._lock:
            return self._connection.execute(sql, tuple(values))

    def insert(self, job: NewJob) -> int:
        """Store a new job, queued; returns its id."""
        cursor = self._write(
            "INSERT INTO jobs (task, queue, payload, priority, state, max_attempts, run_at, created_at, unique_key)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                job.task,
                job.queue,
                dump_arguments(job.args, job.kwargs),
                job.priority,
                JobState.QUEUED.value,
                job.max_attempts,
                to_text(job.run_at),
                to_text(job.created_at),
                job.unique_key,
            ),
        )
        return int(cursor.lastrowid or 0)

    def get(self, job_id: int) -> Job:
        """One job. Raises JobNotFoundError."""
        rows = self._query("SELECT * FROM jobs WHERE id = ?", (job_id,))
        if not rows:
            raise JobNotFoundError(job_id)
        return _to_job(rows[0])

    def update_if(self, job_id: int, expected: Mapping[str, Any], changes: Mapping[str, Any]) -> bool:
        """Apply `changes` if every column in `expected` still holds the given value; False if not."""
        unknown = (set(expected) | set(changes)) - _MUTABLE
        if unknown:
            raise ValueError(f"not a mutable column: {', '.join(sorted(unknown))}")
        assignments = ", ".join(f"{name} = ?" for name in changes)
        conditions = "".join(f" AND {name} IS ?" for name in expected)
        values = [*map(_to_column, changes.values()), job_id, *map(_to_column, expected.values())]
        cursor = self._write(f"UPDATE jobs SET {assignments} WHERE id = ?{conditions}", values)
        return cursor.rowcount == 1

    def next_ready(self, queues: tuple[str, ...], now: datetime) -> Job | None:
        """The job to run next: lowest priority number, then oldest run time, then lowest id."""
        rows = self._query(
            f"SELECT * FROM jobs WHERE queue IN ({_marks(queues)}) AND state IN ({_marks(READY_STATES)})"
            " AND run_at <= ? ORDER BY priority, run_at, id LIMIT 1",
            (*queues, *(state.value for state in READY_STATES), to_text(now)),
        )
        return _to_job(rows[0]) if rows else None

    def find_by_unique_key(self, key: str, states: tuple[JobState, ...] = tuple(JobState)) -> Job | None:
        """The newest job with this key in one of `states`."""
        rows = self._query(
            f"SELECT * FROM jobs WHERE unique_key = ? AND state IN ({_marks(states)}) ORDER BY id DESC LIMIT 1",
            (key, *(state.value for state in states)),
        )
        return _to_job(rows[0]) if rows else None

    def expired_leases(self, now: datetime) -> list[Job]:
        """Jobs whose lease ran out before `now`."""
        rows = self._query(
            "SELECT * FROM jobs WHERE state = ? AND lease_until < ? ORDER BY lease_until",
            (JobState.LEASED.value, to_text(now)),
        )
        return [_to_job(row) for row in rows]

    def counts(self) -> dict[tuple[str, str], int]:
        """Number of jobs by (queue, state)."""
        rows = self._query("SELECT queue, state, COUNT(*) AS n FROM jobs GROUP BY queue, state ORDER BY queue, state")
        return {(row["queue"], row["state"]): row["n"] for row in rows}

    def prune(self, before: datetime) -> int:
        """Delete finished jobs older than `before`; returns how many."""
        cursor = self._write(
            f"DELETE FROM jobs WHERE state IN ({_marks(FINISHED_STATES)}) AND finished_at < ?",
            (*(state.value for state in FINISHED_STATES), to_text(before)),
        )
        return cursor.rowcount

    def last_fire(self, name: str) -> datetime | None:
        """When the recurring entry last fired; None if it never did."""
        rows = self._query("SELECT last_fire FROM recurring WHERE name = ?", (name,))
        return from_text(rows[0]["last_fire"]) if rows else None

    def advance_fire(self, name: str, previous: datetime | None, fired: datetime) -> bool:
        """Move the entry from `previous` to `fired`; False if another scheduler was faster."""
        if previous is None:
            cursor = self._write("INSERT OR IGNORE INTO recurring VALUES (?, ?)", (name, to_text(fired)))
        else:
            cursor = self._write(
                "UPDATE recurring SET last_fire = ? WHERE name = ? AND last_fire = ?",
                (to_text(fired), name, to_text(previous)),
            )
        return cursor.rowcount == 1


def _marks(values: tuple[Any, ...]) -> str:
    return ", ".join("?" for _ in values)
