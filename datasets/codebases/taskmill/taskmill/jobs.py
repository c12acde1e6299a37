"""The job: what is stored, which states it goes through."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any


class JobState(str, Enum):
    """QUEUED -> LEASED -> DONE | RETRYING | DEAD; QUEUED | RETRYING -> CANCELLED."""

    QUEUED = "queued"
    LEASED = "leased"
    RETRYING = "retrying"
    DONE = "done"
    DEAD = "dead"
    CANCELLED = "cancelled"


READY_STATES = (JobState.QUEUED, JobState.RETRYING)
ACTIVE_STATES = (JobState.QUEUED, JobState.RETRYING, JobState.LEASED)
FINISHED_STATES = (JobState.DONE, JobState.DEAD, JobState.CANCELLED)


@dataclass(frozen=True)
class Job:
    """One unit of work. `attempts` counts the runs that were started."""

    id: int
    task: str
    queue: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    priority: int
    state: JobState
    attempts: int
    max_attempts: int
    run_at: datetime
    created_at: datetime
    unique_key: str | None = None
    lease_owner: str | None = None
    lease_token: str | None = None
    lease_until: datetime | None = None
    finished_at: datetime | None = None
    error: str | None = None

    @property
    def active(self) -> bool:
        """Whether the job is still to be run, or running."""
        return self.state in ACTIVE_STATES


@dataclass(frozen=True)
class NewJob:
    """A job that has no id yet."""

    task: str
    queue: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    priority: int
    max_attempts: int
    run_at: datetime
    created_at: datetime
    unique_key: str | None = None
