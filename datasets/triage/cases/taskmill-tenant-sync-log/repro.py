"""A key stays taken while its job runs: nobody may queue a second one beside a running one."""

from datetime import datetime, timezone

from taskmill.clock import ManualClock
from taskmill.jobs import JobState
from taskmill.leases import LeaseTable
from taskmill.metrics import Metrics
from taskmill.queue import Queue
from taskmill.registry import Registry
from taskmill.store import JobStore

clock = ManualClock(datetime(2026, 11, 22, 2, 10, tzinfo=timezone.utc))
store = JobStore(":memory:")
queue = Queue(store, Registry(), clock, Metrics())
leases = LeaseTable(store, clock)
first = queue.enqueue("sync.tenant", 14, unique_key="sync:14")
lease = leases.acquire("mill-1", ("default",))
assert lease is not None
second = queue.enqueue("sync.tenant", 14, unique_key="sync:14")
assert second.id == first.id, (first, second)
assert leases.acquire("mill-2", ("default",)) is None
leases.finish(lease, JobState.DONE)
assert queue.enqueue("sync.tenant", 14, unique_key="sync:14").id != first.id
