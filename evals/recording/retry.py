"""Patience with an endpoint: what passes is asked again, after the wait it asks for or after longer and longer ones.

Passing are rate limits (429), outages (5xx), timeouts and cut connections. Only the answer in the end is recorded.
"""

import asyncio
import math
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from tenacity import AsyncRetrying, RetryCallState, stop_after_attempt, wait_exponential_jitter

from evals.cassette.reply import Reply, Send
from evals.cassette.stop import Stop
from evals.errors import NoAnswerError

LONGEST_WAIT_S: Final = 120.0
"""An endpoint that asks for more is taken at its word: come back later."""
_PASSING: Final = frozenset({408, 425, 429})
_backoff: Final = wait_exponential_jitter(max=30, jitter=1)  # 1, 2, 4 ... 30 seconds, each and up to one more


class Patience:
    """Sends one request up to `retries` times more. `timeout_s` bounds each try as a whole, however slowly it trickles;
    `say` hears why it waits. A host nobody has heard from yet is not tried twice: it is misspelled or down."""

    def __init__(
        self,
        stop: Stop,
        *,
        retries: int,
        timeout_s: float,
        now: Callable[[], datetime],
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._stop = stop
        self._retries = retries
        self._timeout_s = timeout_s
        self._now = now
        self._say = say
        self._heard = False

    async def __call__(self, send: Send) -> Reply:
        """The last reply, whatever its status.

        Raises:
            NoAnswerError: the last try gave none.
            RecordingStoppedError: recording ended while this waited.
        """
        retrying = AsyncRetrying(
            sleep=self._stop.sleep,
            stop=stop_after_attempt(self._retries + 1),
            wait=self._wait,
            retry=self._is_passing,
            before_sleep=self._told,
            retry_error_callback=_as_it_is,
        )
        reply: Reply = await retrying(self._try, send)
        return reply

    async def _try(self, send: Send) -> Reply:
        self._stop.check()
        try:
            async with asyncio.timeout(self._timeout_s):
                reply = await send()
        except TimeoutError:
            raise NoAnswerError(
                f"no whole answer within {self._timeout_s:g} s: raise --timeout, or name a quicker endpoint"
            ) from None
        self._heard = True
        return reply

    def _is_passing(self, state: RetryCallState) -> bool:
        if state.outcome is None or state.outcome.failed:
            error = state.outcome.exception() if state.outcome else None
            return isinstance(error, NoAnswerError) and (self._heard or not error.nobody_there)
        reply: Reply = state.outcome.result()
        passing = reply.status in _PASSING or reply.status >= 500
        return passing and not reply.out_of_credit and self._asked_for(reply) <= LONGEST_WAIT_S

    def _wait(self, state: RetryCallState) -> float:
        outcome = state.outcome
        asked_for = self._asked_for(outcome.result()) if outcome and not outcome.failed else 0.0
        return asked_for or _backoff(state)

    def _asked_for(self, reply: Reply) -> float:
        return seconds_to_wait(reply.retry_after, self._now())

    def _told(self, state: RetryCallState) -> None:
        outcome = state.outcome
        failed = outcome is None or outcome.failed
        cause = "no answer" if failed or outcome is None else f"status {outcome.result().status}"
        self._say(f"{cause}: asking again in {state.upcoming_sleep:.0f} s ({state.attempt_number} of {self._retries})")


def _as_it_is(state: RetryCallState) -> Reply:
    """What the last try gave, or its error as it was raised."""
    assert state.outcome is not None  # noqa: S101 - tenacity calls this after an attempt
    reply: Reply = state.outcome.result()
    return reply


def seconds_to_wait(retry_after: str, now: datetime) -> float:
    """The header in seconds, be it a number or an HTTP date (RFC 9110, 10.2.3); 0 if it is neither, or past."""
    try:
        seconds = float(retry_after)
    except ValueError:
        seconds = _until(retry_after, now)
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0


def _until(date: str, now: datetime) -> float:
    try:
        when = parsedate_to_datetime(date)
    except ValueError:
        return 0.0
    return ((when if when.tzinfo else when.replace(tzinfo=UTC)) - now).total_seconds()
