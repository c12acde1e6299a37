"""A whole taskmill in memory, under a clock that only moves when told to."""

import random
from datetime import datetime, timezone

from taskmill.clock import ManualClock
from taskmill.leases import LeaseTable
from taskmill.metrics import Metrics
from taskmill.queue import Queue
from taskmill.registry import Registry
from taskmill.retry import RetryPolicy
from taskmill.store import JobStore
from taskmill.worker import Worker

START = datetime(2026, 3, 2, 8, 0, tzinfo=timezone.utc)


class Mill:
    """Store, queue, leases and one worker."""

    def __init__(self, start: datetime = START) -> None:
        self.clock = ManualClock(start)
        self.store = JobStore(":memory:")
        self.registry = Registry()
        self.metrics = Metrics()
        self.queue = Queue(self.store, self.registry, self.clock, self.metrics)
        self.leases = LeaseTable(self.store, self.clock, lease_seconds=60)
        retry = RetryPolicy(jitter=False)
        self.worker = Worker(
            "w1", ("default",), self.leases, self.registry, retry, self.metrics, rng=random.Random(0)
        )

    def close(self) -> None:
        self.store.close()
