"""A worker configured through the environment leases a job."""

from datetime import datetime, timezone

from taskmill.clock import ManualClock
from taskmill.config import load_settings
from taskmill.leases import LeaseTable
from taskmill.metrics import Metrics
from taskmill.queue import Queue
from taskmill.registry import Registry
from taskmill.store import JobStore

settings = load_settings(environ={"TASKMILL_LEASE_SECONDS": "300"})
clock = ManualClock(datetime(2026, 11, 18, 9, 0, tzinfo=timezone.utc))
store = JobStore(":memory:")
Queue(store, Registry(), clock, Metrics()).enqueue("reports.build")
lease = LeaseTable(store, clock, lease_seconds=settings.lease_seconds).acquire("w1", settings.queues)
assert lease is not None
assert lease.job.lease_until == datetime(2026, 11, 18, 9, 5, tzinfo=timezone.utc), lease.job.lease_until
