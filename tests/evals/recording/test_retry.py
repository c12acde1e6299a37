"""What passes is asked again, never too soon and never for ever; what does not pass is not."""

import asyncio
from datetime import UTC, datetime

import pytest

from evals.cassettes.live_answer import HttpReply
from evals.cassettes.recorder import StopSignal
from evals.errors import NoAnswerError, RecordingStoppedError
from evals.recording.endpoint import EndpointRetry, seconds_to_wait

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
FINE = HttpReply(200, "application/json", b"{}")
CUT = NoAnswerError("cut")
NOBODY = NoAnswerError("connection refused", nobody_there=True)


class Waits(StopSignal):
    """A stop whose sleeps take no time, and are remembered."""

    def __init__(self) -> None:
        super().__init__()
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def a_refusal(status: int = 503, *, retry_after: str = "", code: str = "") -> HttpReply:
    return HttpReply(status, "application/json", b'{"error": {"code": "%s"}}' % code.encode(), retry_after)


def patience(stop: StopSignal, **more) -> EndpointRetry:
    return EndpointRetry(stop, **{"retries": 4, "timeout_s": 5, "now": lambda: NOON, **more})


async def asked(
    *outcomes: HttpReply | Exception, patient: EndpointRetry | None = None
) -> tuple[HttpReply | Exception, list[float]]:
    """What comes of a request that meets these outcomes in turn, and what was waited between them."""
    stop = Waits()
    left = iter(outcomes)

    async def send() -> HttpReply:
        outcome = next(left)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    try:
        return await (patient or patience(stop))(send), stop.slept
    except NoAnswerError as error:
        return error, stop.slept


async def test_waits_grow_and_are_never_quite_the_same():
    """1, 2, 4, 8 seconds, each and up to one more: many clients must not come back together."""
    _, slept = await asked(*[a_refusal()] * 4, FINE)

    assert all(2**n <= seconds <= 2**n + 1 for n, seconds in enumerate(slept))
    assert any(seconds != round(seconds) for seconds in slept)


@pytest.mark.parametrize("retry_after", ["7", "Sun, 22 Nov 2026 12:00:07 GMT"])
async def test_an_endpoint_that_says_how_long_is_waited_for_exactly_so_long(retry_after):
    _, slept = await asked(a_refusal(429, retry_after=retry_after), FINE)

    assert slept == [7.0]


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("", 0),
        ("soon", 0),
        ("-5", 0),
        ("0", 0),
        ("90", 90),
        ("0.5", 0.5),
        ("nan", 0),
        ("inf", 0),
        ("Sun, 22 Nov 2026 11:00:00 GMT", 0),
    ],
)
def test_a_wait_is_seconds_or_a_date_to_come(said, seconds):
    assert seconds_to_wait(said, NOON) == seconds


async def test_the_last_refusal_is_what_comes_of_it():
    reply, slept = await asked(*[a_refusal(500)] * 4, a_refusal(502))

    assert (reply, len(slept)) == (a_refusal(502), 4)


async def test_a_cut_connection_is_tried_again():
    assert (await asked(CUT, CUT, FINE))[0] == FINE


async def test_a_host_nobody_ever_heard_from_is_not_tried_twice():
    assert await asked(NOBODY) == (NOBODY, [])


async def test_a_host_that_answered_before_is_given_time_to_come_back():
    stop = Waits()
    known = patience(stop)
    await asked(FINE, patient=known)

    reply, _ = await asked(NOBODY, FINE, patient=known)

    assert reply == FINE


async def test_a_try_that_trickles_is_cut_off():
    async def never() -> HttpReply:
        await asyncio.sleep(60)
        raise AssertionError

    with pytest.raises(NoAnswerError, match=r"within 0\.01 s: --set timeout=S"):
        await patience(Waits(), retries=0, timeout_s=0.01)(never)


async def test_a_stop_ends_the_wait_at_once():
    """With a real clock: an hour of waiting is over as soon as somebody says stop."""
    stop = StopSignal()
    waiting = asyncio.create_task(patience(stop, now=lambda: NOON)(lambda: _soon(a_refusal(429, retry_after="100"))))
    await asyncio.sleep(0.01)
    stop.set(RecordingStoppedError("enough"))

    with pytest.raises(RecordingStoppedError, match="enough"):
        await asyncio.wait_for(waiting, 60)  # of the 100 s that the endpoint asks for


async def _soon(reply: HttpReply) -> HttpReply:
    return reply
