"""A key is free again once the job that held it has finished."""

from datetime import datetime, timezone

from taskmill.clock import ManualClock
from taskmill.jobs import JobState
from taskmill.leases import LeaseTable
from taskmill.metrics import Metrics
from taskmill.queue import Queue
from taskmill.registry import Registry
from taskmill.store import JobStore

clock = ManualClock(datetime(2026, 11, 16, 7, 0, tzinfo=timezone.utc))
store = JobStore(":memory:")
queue = Queue(store, Registry(), clock, Metrics())
leases = LeaseTable(store, clock)

first = queue.enqueue("export.customer", 118, unique_key="export:118")
assert queue.enqueue("export.customer", 118, unique_key="export:118").id == first.id
lease = leases.acquire("w1", ("default",))
assert lease is not None
leases.finish(lease, JobState.DONE)

clock.advance(3600)
second = queue.enqueue("export.customer", 118, unique_key="export:118")
assert second.id != first.id, second
assert second.state is JobState.QUEUED, second
