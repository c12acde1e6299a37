"""A heartbeat lands between the reaper's look and the reaper's write: the live worker must keep its job."""

import tempfile
import threading
from datetime import datetime, timezone
from pathlib import Path

from taskmill.clock import ManualClock
from taskmill.jobs import Job, JobState
from taskmill.leases import LeaseTable
from taskmill.metrics import Metrics
from taskmill.queue import Queue
from taskmill.registry import Registry
from taskmill.store import JobStore

LOOKED = threading.Event()
RENEWED = threading.Event()


class PausedStore(JobStore):
    """The reaper's view of the file: it waits after having looked for expired leases."""

    def expired_leases(self, now: datetime) -> list[Job]:
        found = super().expired_leases(now)
        LOOKED.set()
        assert RENEWED.wait(5)
        return found


with tempfile.TemporaryDirectory() as folder:
    path = str(Path(folder) / "jobs.db")
    clock = ManualClock(datetime(2026, 11, 12, 3, 0, tzinfo=timezone.utc))
    store, reaper_store = JobStore(path), PausedStore(path)
    job = Queue(store, Registry(), clock, Metrics()).enqueue("thumbs.render")
    leases = LeaseTable(store, clock, lease_seconds=4)
    lease = leases.acquire("w1", ("default",))
    assert lease is not None
    clock.advance(5)  # the heartbeat is late, but not lost

    reclaimed: list[int] = []
    reaper = threading.Thread(target=lambda: reclaimed.extend(LeaseTable(reaper_store, clock).reclaim_expired()))
    reaper.start()
    assert LOOKED.wait(5)
    leases.renew(lease)
    RENEWED.set()
    reaper.join()

    after = store.get(job.id)
    second = leases.acquire("w2", ("default",))
    store.close()
    reaper_store.close()

assert reclaimed == [], reclaimed
assert (after.state, after.lease_owner) == (JobState.LEASED, "w1"), after
assert second is None, second
