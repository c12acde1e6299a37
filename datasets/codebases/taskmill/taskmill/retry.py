"""Whether and when a failed attempt is made again."""

import random
from dataclasses import dataclass

from taskmill.errors import AbortJob, PayloadError, RetryJob, UnknownTaskError

_HOPELESS = (AbortJob, PayloadError, UnknownTaskError)


@dataclass(frozen=True)
class RetryPolicy:
    """Exponential backoff with full jitter above a floor.

    The n-th retry waits between half of and the whole of `min(base * factor ** (n - 1), maximum)` seconds.
    """

    base: float = 5.0
    factor: float = 2.0
    maximum: float = 3600.0
    jitter: bool = True

    def should_retry(self, attempts: int, max_attempts: int, error: BaseException) -> bool:
        """Whether another attempt is worth it after `attempts` runs, the last of which raised `error`."""
        return attempts < max_attempts and not isinstance(error, _HOPELESS)

    def delay(self, attempts: int, error: BaseException, rng: random.Random) -> float:
        """Seconds until the next attempt; what the task asked for wins over the formula."""
        if isinstance(error, RetryJob) and error.delay is not None:
            return max(0.0, error.delay)
        ceiling = self.ceiling(attempts)
        return ceiling * (0.5 + rng.random() / 2) if self.jitter else ceiling

    def ceiling(self, attempts: int) -> float:
        """The longest wait after `attempts` runs, in seconds."""
        exponent = min(max(attempts, 1) - 1, 64)  # beyond this the maximum has long been reached
        return min(self.base * self.factor**exponent, self.maximum)
