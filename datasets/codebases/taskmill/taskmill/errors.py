"""Errors raised by taskmill, all under one root so that callers can catch the lot."""


class TaskmillError(Exception):
    """Root of the tree."""


class ConfigError(TaskmillError):
    """A setting is missing, unknown, or out of range."""


class CronSyntaxError(TaskmillError):
    """A cron expression cannot be read, or can never fire."""


class UnknownTaskError(TaskmillError):
    """A job names a task that no imported module registered."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no task named {name!r} is registered; is its module imported?")
        self.name = name


class PayloadError(TaskmillError):
    """Arguments that cannot be stored, or a stored payload that cannot be read."""


class JobNotFoundError(TaskmillError):
    """There is no job with this id."""

    def __init__(self, job_id: int) -> None:
        super().__init__(f"no job {job_id}")
        self.job_id = job_id


class InvalidTransitionError(TaskmillError):
    """The job is in a state that does not allow what was asked."""


class LeaseLostError(TaskmillError):
    """The worker no longer owns the job: its lease expired and was taken back."""


class RetryJob(TaskmillError):
    """Raised by a task to ask for another attempt, optionally after a given delay in seconds."""

    def __init__(self, reason: str = "", delay: float | None = None) -> None:
        super().__init__(reason)
        self.delay = delay


class AbortJob(TaskmillError):
    """Raised by a task that must not be attempted again."""
