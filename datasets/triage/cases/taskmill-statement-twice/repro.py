"""Two schedulers look at a due entry before either has written: it must be queued once, not twice."""

import tempfile
import threading
from datetime import datetime, timezone
from pathlib import Path

from taskmill.clock import ManualClock
from taskmill.cron import CronSchedule
from taskmill.jobs import Job
from taskmill.leases import LeaseTable
from taskmill.metrics import Metrics
from taskmill.queue import Queue
from taskmill.registry import Registry, Task
from taskmill.retry import RetryPolicy
from taskmill.scheduler import Recurring, Scheduler
from taskmill.store import JobStore
from taskmill.worker import Worker

LOOKED = threading.Event()
OTHER_DONE = threading.Event()


class PausedStore(JobStore):
    """The second scheduler's view of the file: it waits after having read when the entry fired last."""

    paused = False

    def last_fire(self, name: str) -> datetime | None:
        found = super().last_fire(name)
        if self.paused:
            LOOKED.set()
            assert OTHER_DONE.wait(5)
        return found


def a_scheduler(store: JobStore, registry: Registry, clock: ManualClock) -> Scheduler:
    entry = Recurring("statements", "statements.mail", CronSchedule.parse("0 5 * * *"))
    return Scheduler([entry], Queue(store, registry, clock, Metrics()), store, clock)


sent: list[str] = []
with tempfile.TemporaryDirectory() as folder:
    path = str(Path(folder) / "jobs.db")
    clock = ManualClock(datetime(2026, 11, 9, 4, 59, 30, tzinfo=timezone.utc))
    registry = Registry()
    registry.add(Task("statements.mail", lambda: sent.append("statement")))
    store, slow_store = JobStore(path), PausedStore(path)
    fast, slow = a_scheduler(store, registry, clock), a_scheduler(slow_store, registry, clock)
    fast.tick()
    slow.tick()
    clock.advance(30)

    slow_store.paused = True
    queued: list[Job] = []
    thread = threading.Thread(target=lambda: queued.extend(slow.tick()))
    thread.start()
    assert LOOKED.wait(5)
    queued.extend(fast.tick())
    worker = Worker("w1", ("default",), LeaseTable(store, clock), registry, RetryPolicy(), Metrics())
    worker.run_once()
    OTHER_DONE.set()
    thread.join()
    while worker.run_once():
        pass
    store.close()
    slow_store.close()

assert sent == ["statement"], sent
assert len({job.id for job in queued}) == 1, queued
