"""Recurring jobs: turns due cron entries into queued jobs."""

import logging
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timezone, tzinfo
from typing import Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from taskmill.clock import Clock
from taskmill.cron import CronSchedule
from taskmill.errors import ConfigError
from taskmill.jobs import Job
from taskmill.queue import Queue
from taskmill.store import JobStore

logger = logging.getLogger(__name__)

Misfire = Literal["once", "all", "skip"]
_MISFIRES = ("once", "all", "skip")


@dataclass(frozen=True)
class Recurring:
    """One entry: which task, when, and what happens to runs missed while no scheduler was up."""

    name: str
    task: str
    cron: CronSchedule
    kwargs: dict[str, Any] = field(default_factory=dict)
    queue: str | None = None
    misfire: Misfire = "once"


def zone(name: str) -> tzinfo:
    """The time zone called `name`. Raises ConfigError."""
    if name == "UTC":
        return timezone.utc
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ConfigError(f"unknown time zone {name!r}") from error


def read_entries(tables: Iterable[dict[str, Any]]) -> list[Recurring]:
    """Entries from `[[recurring]]` tables of the configuration file. Raises ConfigError, CronSyntaxError."""
    entries = []
    for table in tables:
        missing = {"name", "task", "cron"} - set(table)
        if missing:
            raise ConfigError(f"recurring entry lacks {', '.join(sorted(missing))}")
        misfire = table.get("misfire", "once")
        if misfire not in _MISFIRES:
            raise ConfigError(f"recurring entry {table['name']!r}: misfire must be one of {', '.join(_MISFIRES)}")
        entries.append(
            Recurring(
                name=table["name"],
                task=table["task"],
                cron=CronSchedule.parse(table["cron"]),
                kwargs=dict(table.get("kwargs", {})),
                queue=table.get("queue"),
                misfire=misfire,
            )
        )
    return entries


class Scheduler:
    """Fires entries that are due. Several schedulers on one store are harmless: the faster one fires."""

    def __init__(
        self, entries: Iterable[Recurring], queue: Queue, store: JobStore, clock: Clock, *, tz: tzinfo = timezone.utc
    ) -> None:
        self._entries = list(entries)
        self._queue = queue
        self._store = store
        self._clock = clock
        self._tz = tz

    def tick(self) -> list[Job]:
        """Queue what is due now; returns the jobs."""
        jobs: list[Job] = []
        for entry in self._entries:
            jobs.extend(self._fire(entry))
        return jobs

    def upcoming(self, entry: Recurring, after: datetime) -> datetime:
        """When the entry fires next, in UTC."""
        return entry.cron.next_after(after.astimezone(self._tz)).astimezone(timezone.utc)

    def _fire(self, entry: Recurring) -> list[Job]:
        now = self._clock.now()
        last = self._store.last_fire(entry.name)
        if last is None:  # a new entry starts counting now, it does not fire for the past
            self._store.advance_fire(entry.name, None, now)
            return []
        due = self._due(entry, last, now)
        if not due or not self._store.advance_fire(entry.name, last, due[-1]):
            return []
        runs = {"once": due[-1:], "all": due, "skip": due if len(due) == 1 else []}[entry.misfire]
        if len(due) > 1:
            logger.warning("%s missed %d runs, queueing %d", entry.name, len(due) - 1, len(runs))
        return [self._enqueue(entry, moment) for moment in runs]

    def _due(self, entry: Recurring, last: datetime, now: datetime) -> list[datetime]:
        due = []
        moment = self.upcoming(entry, last)
        while moment <= now:
            due.append(moment)
            moment = self.upcoming(entry, moment)
        return due

    def _enqueue(self, entry: Recurring, moment: datetime) -> Job:
        key = f"recurring:{entry.name}:{moment.isoformat()}"
        return self._queue.enqueue(entry.task, queue=entry.queue, unique_key=key, kwargs=entry.kwargs)

    def run(self, stop: threading.Event, poll_seconds: float) -> None:
        """Tick until `stop` is set."""
        logger.info("scheduler started with %d entries", len(self._entries))
        while not stop.is_set():
            self.tick()
            stop.wait(poll_seconds)
