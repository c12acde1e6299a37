"""Ask recorded requests again, byte for byte as they are on tape, through the client that recordings use.

Answers go to the sitting's own folder. Nothing here knows where the committed cassettes are.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import httpx2

from evals.cassette.allowed_secrets import AllowedSecrets
from evals.cassette.interaction import CONTENT_TYPE, ORIGIN
from evals.cassette.player import AGENT_HEADER, Tape, playing
from evals.cassette.recorder import Recorder
from evals.cassette.recording_transport import RecordingTransport
from evals.cassette.store import Cassette
from evals.drift.sitting import Sitting, Wanted, missing
from evals.errors import EvalsError, MissError, RecordingStoppedError
from evals.recording.rounds.advance import Say, Standing
from evals.recording.rounds.answers import Answers
from evals.recording.rounds.wire import BatchWire, custom_id
from evals.recording.wire import case_being_recorded

Failed = EvalsError | None
"""Why a request has no answer; None where it has one."""
Heard = Callable[[Wanted, Failed], None]


async def ask(
    each: Sequence[Wanted],
    sitting: Sitting,
    recorder: Recorder,
    llm: httpx2.AsyncBaseTransport,
    heard: Heard,
    *,
    timeout_s: float = 300,
) -> int:
    """Ask for every answer, as many at a time as the recorder has slots; how many did not come. `heard` is told of each
    as it comes; once the recorder has stopped, nothing more is asked."""
    tapes = {one.request.case: Cassette(sitting.cassette(one.request.case)) for one in each}
    transport = RecordingTransport(recorder, llm)
    async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN, trust_env=False, timeout=timeout_s) as client:

        async def one_more(one: Wanted) -> bool:
            failed = await _sent(client, one, tapes[one.request.case])
            heard(one, failed)
            return failed is None

        return len(each) - sum(await asyncio.gather(*map(one_more, each)))


async def _sent(client: httpx2.AsyncClient, one: Wanted, cassette: Cassette) -> Failed:
    recorded = one.request.answers[0]
    headers = {"content-type": CONTENT_TYPE, AGENT_HEADER: recorded.agent}
    case_being_recorded.set(one.request.case)  # in this task's own context
    try:
        with playing(Tape(cassette, sample=one.sample, samples=one.sample + 1)):
            await client.post(recorded.uri, content=recorded.body_sent, headers=headers)
    except EvalsError as error:
        return error
    return None


@dataclass
class Rounds:
    """The same without an endpoint: what is not answered yet waits in the wire, as a recording's requests do."""

    wanted: Sequence[Wanted]
    sitting: Sitting
    recorder: Recorder
    allowed: AllowedSecrets
    say: Say

    async def advance(self, answers: Answers, asked: Sequence[str] = ()) -> Standing:
        """Take in what came back; where that leaves the requests.

        Raises:
            CassetteError: the sitting's folder cannot be read or written.
        """
        answers.allowed = self.allowed
        wire = BatchWire()
        wire.answers = answers
        requests = [one.request for one in self.wanted]
        open_ones = missing(self.wanted, self.sitting.taken_in(requests))
        failed: list[EvalsError] = []

        def heard(one: Wanted, error: Failed) -> None:
            if error is not None and not isinstance(error, MissError):
                failed.append(error)
                self.say(f"{one.request.case} {one.request.agent}: {error}")

        waiting = await ask(open_ones, self.sitting, self.recorder, wire, heard)
        stopped = next((error for error in failed if isinstance(error, RecordingStoppedError)), None)
        if stopped is not None:
            raise stopped
        known = {custom_id(one.request.key, one.sample) for one in self.wanted} - wire.pending.keys()
        lacking = [
            f"{name[:_SHOWN]} ({wire.pending[name].request.agent} of {wire.pending[name].case_id}): no answer came back"
            for name in asked
            if name in wire.pending and name not in answers.lines
        ]
        for remark in (*answers.remarks, *answers.nobodys(known), *lacking):
            self.say(remark)
        return Standing(
            proven=len(self.wanted) - waiting,
            waiting=waiting - len(failed),
            failed=len(failed),
            taken=answers.taken,
            known_before=answers.known_before(known),
            pending=tuple(wire.pending.values()),
        )


_SHOWN: Final = 12  # characters of a custom_id, as in other remarks
