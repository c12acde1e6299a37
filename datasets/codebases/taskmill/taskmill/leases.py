"""Who may run a job: a lease is taken, renewed, and given up or taken back.

A lease is named by a token that is new for every acquisition, so that a worker which lost its lease
cannot renew or finish what somebody else is running by now.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import uuid4

from taskmill.clock import Clock
from taskmill.errors import LeaseLostError
from taskmill.jobs import Job, JobState
from taskmill.store import JobStore

logger = logging.getLogger(__name__)

_CLAIM_TRIES = 8
_CLEARED: dict[str, object] = {"lease_owner": None, "lease_token": None, "lease_until": None}


def _new_token() -> str:
    return uuid4().hex


@dataclass(frozen=True)
class Lease:
    """The right to run one attempt of `job`."""

    job: Job
    owner: str
    token: str


class LeaseTable:
    """Leases over the jobs of one store."""

    def __init__(
        self,
        store: JobStore,
        clock: Clock,
        *,
        lease_seconds: float = 60.0,
        new_token: Callable[[], str] = _new_token,
    ) -> None:
        self._store = store
        self._clock = clock
        self._lease_seconds = lease_seconds
        self._new_token = new_token

    @property
    def lease_seconds(self) -> float:
        """How long a lease lasts without renewal."""
        return self._lease_seconds

    def _expiry(self) -> datetime:
        return self._clock.now() + timedelta(seconds=self._lease_seconds)

    def acquire(self, owner: str, queues: tuple[str, ...]) -> Lease | None:
        """Take the next ready job of `queues`; None when there is nothing to do."""
        for _ in range(_CLAIM_TRIES):
            job = self._store.next_ready(queues, self._clock.now())
            if job is None:
                return None
            token = self._new_token()
            changes = {
                "state": JobState.LEASED,
                "attempts": job.attempts + 1,
                "lease_owner": owner,
                "lease_token": token,
                "lease_until": self._expiry(),
            }
            if self._store.update_if(job.id, {"state": job.state, "attempts": job.attempts}, changes):
                return Lease(job=self._store.get(job.id), owner=owner, token=token)
        logger.debug("lost every claim of %d; trying again later", _CLAIM_TRIES)
        return None

    def renew(self, lease: Lease) -> datetime:
        """Extend the lease; returns the new expiry. Raises LeaseLostError."""
        until = self._expiry()
        expected = {"state": JobState.LEASED, "lease_token": lease.token}
        if not self._store.update_if(lease.job.id, expected, {"lease_until": until}):
            raise LeaseLostError(f"{lease.owner} no longer owns job {lease.job.id}")
        return until

    def finish(self, lease: Lease, state: JobState, error: str | None = None) -> None:
        """End the attempt for good, as DONE or DEAD. Raises LeaseLostError."""
        self._give_up(lease, {"state": state, "finished_at": self._clock.now(), "error": error})

    def defer(self, lease: Lease, delay: float, error: str) -> datetime:
        """End the attempt and queue the next one in `delay` seconds. Raises LeaseLostError."""
        run_at = self._clock.now() + timedelta(seconds=delay)
        self._give_up(lease, {"state": JobState.RETRYING, "run_at": run_at, "error": error})
        return run_at

    def _give_up(self, lease: Lease, changes: dict[str, object]) -> None:
        expected = {"state": JobState.LEASED, "lease_token": lease.token}
        if not self._store.update_if(lease.job.id, expected, {**changes, **_CLEARED}):
            raise LeaseLostError(f"{lease.owner} no longer owns job {lease.job.id}")

    def reclaim_expired(self) -> list[int]:
        """Queue again every job whose worker stopped renewing; returns their ids.

        A job that has used up its attempts is buried instead.
        """
        now = self._clock.now()
        reclaimed = []
        for job in self._store.expired_leases(now):
            expected = {"state": JobState.LEASED, "lease_token": job.lease_token, "lease_until": job.lease_until}
            spent = job.attempts >= job.max_attempts
            changes: dict[str, object] = {
                "state": JobState.DEAD if spent else JobState.QUEUED,
                "error": f"lease of {job.lease_owner} expired",
                "finished_at": now if spent else None,
                **_CLEARED,
            }
            if self._store.update_if(job.id, expected, changes):
                logger.warning("lease of job %d held by %s expired", job.id, job.lease_owner)
                reclaimed.append(job.id)
        return reclaimed
