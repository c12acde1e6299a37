"""The work SQLite does to find the next job, counted in steps of its machine, with little and with much history."""

from datetime import datetime, timezone

from taskmill.clock import ManualClock
from taskmill.jobs import JobState
from taskmill.leases import LeaseTable
from taskmill.metrics import Metrics
from taskmill.queue import Queue
from taskmill.registry import Registry
from taskmill.store import JobStore

STEPS_PER_CALL = 10


def steps_to_acquire(finished: int) -> int:
    """Machine steps (in tens) of one acquisition after `finished` jobs have been done."""
    clock = ManualClock(datetime(2026, 11, 16, 6, 0, tzinfo=timezone.utc))
    store = JobStore(":memory:")
    queue = Queue(store, Registry(), clock, Metrics())
    leases = LeaseTable(store, clock)
    for _ in range(finished):
        queue.enqueue("feeds.pull")
        lease = leases.acquire("w1", ("default",))
        assert lease is not None
        leases.finish(lease, JobState.DONE)
        clock.advance(1)
    waiting = queue.enqueue("feeds.pull")
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    store._connection.set_progress_handler(step, STEPS_PER_CALL)
    lease = leases.acquire("w1", ("default",))
    store._connection.set_progress_handler(None, 0)
    store.close()
    assert lease is not None and lease.job.id == waiting.id
    return steps


few, many = steps_to_acquire(20), steps_to_acquire(320)
assert many <= 2 * few + 5, f"{few} x {STEPS_PER_CALL} steps after 20 jobs, {many} x {STEPS_PER_CALL} after 320"
