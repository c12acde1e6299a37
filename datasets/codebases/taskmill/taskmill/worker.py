"""The consumer's side: lease a job, run its task, record how it went."""

import logging
import random
import threading
import time
from collections.abc import Callable

from taskmill.errors import LeaseLostError
from taskmill.jobs import JobState
from taskmill.leases import Lease, LeaseTable
from taskmill.metrics import Metrics
from taskmill.registry import Registry
from taskmill.retry import RetryPolicy

logger = logging.getLogger(__name__)

_RENEWALS_PER_LEASE = 3


class Heartbeat:
    """Renews a lease from its own thread for as long as the `with` block runs."""

    def __init__(self, leases: LeaseTable, lease: Lease) -> None:
        self._leases = leases
        self._lease = lease
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"heartbeat-{lease.job.id}", daemon=True)
        self.lost = False

    def __enter__(self) -> "Heartbeat":
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._done.set()
        self._thread.join()

    def _beat(self) -> None:
        pause = self._leases.lease_seconds / _RENEWALS_PER_LEASE
        while not self._done.wait(pause):
            try:
                self._leases.renew(self._lease)
            except LeaseLostError as error:
                logger.error("heartbeat: %s", error)
                self.lost = True
                return


class Worker:
    """Serves the given queues, one job at a time."""

    def __init__(
        self,
        name: str,
        queues: tuple[str, ...],
        leases: LeaseTable,
        registry: Registry,
        retry: RetryPolicy,
        metrics: Metrics,
        *,
        rng: random.Random | None = None,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = name
        self._queues = queues
        self._leases = leases
        self._registry = registry
        self._retry = retry
        self._metrics = metrics
        self._rng = rng or random.Random()
        self._timer = timer

    def run(self, stop: threading.Event, poll_seconds: float, reap_seconds: float) -> None:
        """Work until `stop` is set; the job at hand is finished first."""
        logger.info("worker %s serves %s", self._name, ", ".join(self._queues))
        next_reap = self._timer()
        while not stop.is_set():
            if self._timer() >= next_reap:
                self.reap()
                next_reap = self._timer() + reap_seconds
            if not self.run_once():
                stop.wait(poll_seconds)

    def reap(self) -> list[int]:
        """Take back the leases of workers that died."""
        reclaimed = self._leases.reclaim_expired()
        self._metrics.count("leases_reclaimed", len(reclaimed))
        return reclaimed

    def run_once(self) -> bool:
        """Run one job; False when there was none."""
        lease = self._leases.acquire(self._name, self._queues)
        if lease is None:
            return False
        started = self._timer()
        try:
            self._attempt(lease)
        except LeaseLostError as error:
            logger.error("result dropped: %s", error)
            self._metrics.count("results_dropped", task=lease.job.task)
        self._metrics.observe("job_seconds", self._timer() - started, task=lease.job.task)
        return True

    def _attempt(self, lease: Lease) -> None:
        job = lease.job
        try:
            task = self._registry.get(job.task)
            with Heartbeat(self._leases, lease):
                task.function(*job.args, **job.kwargs)
        except Exception as error:  # a task may raise anything; the worker survives it
            self._failed(lease, error)
        else:
            self._leases.finish(lease, JobState.DONE)
            self._metrics.count("jobs_done", task=job.task)
            logger.info("job %d (%s) done, attempt %d", job.id, job.task, job.attempts)

    def _failed(self, lease: Lease, error: Exception) -> None:
        job = lease.job
        text = f"{type(error).__name__}: {error}"
        if not self._retry.should_retry(job.attempts, job.max_attempts, error):
            self._leases.finish(lease, JobState.DEAD, text)
            self._metrics.count("jobs_dead", task=job.task)
            logger.error("job %d (%s) is dead after %d attempts: %s", job.id, job.task, job.attempts, text)
            return
        delay = self._retry.delay(job.attempts, error, self._rng)
        self._leases.defer(lease, delay, text)
        self._metrics.count("jobs_retried", task=job.task)
        logger.warning("job %d (%s) failed, again in %.1f s: %s", job.id, job.task, delay, text)
