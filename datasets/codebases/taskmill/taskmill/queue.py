"""The producer's side: put jobs in, look at them, take them out again."""

import logging
from datetime import timedelta
from typing import Any

from taskmill.clock import Clock
from taskmill.errors import InvalidTransitionError
from taskmill.jobs import ACTIVE_STATES, Job, JobState, NewJob
from taskmill.metrics import Metrics
from taskmill.registry import Registry
from taskmill.store import JobStore

logger = logging.getLogger(__name__)

DEFAULT_PRIORITY = 100


class Queue:
    """Enqueue, cancel and revive jobs.

    Tasks are looked up in the registry when they are known there; a producer that does not import the task's
    module may still enqueue by name.
    """

    def __init__(
        self, store: JobStore, registry: Registry, clock: Clock, metrics: Metrics, *, max_attempts: int = 5
    ) -> None:
        self._store = store
        self._registry = registry
        self._clock = clock
        self._metrics = metrics
        self._max_attempts = max_attempts

    def enqueue(
        self,
        task: str,
        *args: Any,
        queue: str | None = None,
        priority: int = DEFAULT_PRIORITY,
        delay: float = 0.0,
        unique_key: str | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> Job:
        """Queue one run of `task` and return the job.

        `delay` is in seconds; a lower `priority` runs earlier. With `unique_key`, an active job with the same
        key is returned instead of a new one.
        """
        if unique_key is not None:
            existing = self._store.find_by_unique_key(unique_key, ACTIVE_STATES)
            if existing is not None:
                logger.info("job %d already holds key %s", existing.id, unique_key)
                self._metrics.count("jobs_deduplicated", task=task)
                return existing
        now = self._clock.now()
        job_id = self._store.insert(
            NewJob(
                task=task,
                queue=queue or self._queue_of(task),
                args=args,
                kwargs=dict(kwargs or {}),
                priority=priority,
                max_attempts=self._attempts_of(task),
                run_at=now + timedelta(seconds=delay),
                created_at=now,
                unique_key=unique_key,
            )
        )
        self._metrics.count("jobs_enqueued", task=task)
        logger.info("enqueued job %d (%s)", job_id, task)
        return self._store.get(job_id)

    def get(self, job_id: int) -> Job:
        """One job. Raises JobNotFoundError."""
        return self._store.get(job_id)

    def cancel(self, job_id: int) -> Job:
        """Cancel a job that is not running. Raises InvalidTransitionError for any other."""
        job = self._store.get(job_id)
        changes = {"state": JobState.CANCELLED, "finished_at": self._clock.now()}
        if job.state not in (JobState.QUEUED, JobState.RETRYING) or not self._store.update_if(
            job_id, {"state": job.state}, changes
        ):
            raise InvalidTransitionError(f"job {job_id} is {job.state.value} and cannot be cancelled")
        self._metrics.count("jobs_cancelled", task=job.task)
        return self._store.get(job_id)

    def revive(self, job_id: int) -> Job:
        """Give a dead or cancelled job a fresh set of attempts. Raises InvalidTransitionError for any other."""
        job = self._store.get(job_id)
        changes = {"state": JobState.QUEUED, "attempts": 0, "run_at": self._clock.now(), "finished_at": None}
        if job.state not in (JobState.DEAD, JobState.CANCELLED) or not self._store.update_if(
            job_id, {"state": job.state}, changes
        ):
            raise InvalidTransitionError(f"job {job_id} is {job.state.value} and cannot be revived")
        return self._store.get(job_id)

    def prune(self, older_than_days: float) -> int:
        """Delete finished jobs older than so many days; returns how many."""
        return self._store.prune(self._clock.now() - timedelta(days=older_than_days))

    def _queue_of(self, task: str) -> str:
        known = self._registry.find(task)
        return known.queue if known is not None else "default"

    def _attempts_of(self, task: str) -> int:
        known = self._registry.find(task)
        return known.max_attempts or self._max_attempts if known is not None else self._max_attempts
