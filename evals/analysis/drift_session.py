"""A drift session: a folder with fresh answers, and asking for the missing ones."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx2

from evals.analysis.drift_sample import RecordedRequest
from evals.cassettes import staging as arrived
from evals.cassettes.cassette_files import load
from evals.cassettes.interaction import CONTENT_TYPE, ORIGIN, Cassette, Interaction
from evals.cassettes.player import AGENT_HEADER, Tape, playing
from evals.cassettes.recorder import Recorder, RecordingTransport
from evals.cassettes.request_key import parse_json
from evals.errors import EvalsError, MissError, RecordingStoppedError
from evals.recording.endpoint import case_being_recorded
from evals.recording.rounds.answer_files import Answers
from evals.recording.rounds.batch_requests import BatchWire, custom_id
from evals.recording.rounds.round_step import RoundState, Say
from evals.secrets.secret_filter import AllowedSecrets


@dataclass(frozen=True)
class Wanted:
    """One more answer to a request, the n-th, from 0."""

    request: RecordedRequest
    sample: int


@dataclass(frozen=True)
class Sitting:
    """Where the answers of one sitting are."""

    folder: Path

    @classmethod
    def at(cls, folder: Path, *, extend: bool = False) -> "Sitting":
        """The one below `folder` that is not finished, else a new one; with `extend` the last one, finished or not."""
        known = sorted(folder.glob("sitting-[0-9][0-9][0-9]"))
        if known and (extend or not cls(known[-1]).result.exists()):
            return cls(known[-1])
        return cls(folder / f"sitting-{int(known[-1].name[-3:]) + 1 if known else 1:03}")

    @property
    def result(self) -> Path:
        """What the answers have shown, once all are there."""
        return self.folder / "drift.json"

    def cassette(self, case: str) -> Path:
        """The answers to requests of one case."""
        return self.folder / "answers" / f"{case}.yaml"

    def taken_in(self, requests: Iterable[RecordedRequest]) -> dict[str, Cassette]:
        """What is answered so far, by case, what a killed sitting left beside included.

        Raises:
            CassetteError: a file cannot be trusted, read or written.
        """
        found = {}
        for case in sorted({request.case for request in requests}):
            arrived.take_in(self.cassette(case))
            found[case] = load(self.cassette(case))
        return found


def wanted(requests: Iterable[RecordedRequest]) -> list[Wanted]:
    """Every answer a sample needs."""
    return [Wanted(request, sample) for request in requests for sample in range(request.times)]


def missing(each: Iterable[Wanted], answered: Mapping[str, Cassette]) -> list[Wanted]:
    """Those that are not answered yet."""
    return [one for one in each if answered[one.request.case].exact(one.request.key, one.sample) is None]


def answers(request: RecordedRequest, answered: Mapping[str, Cassette]) -> tuple[Interaction, ...]:
    """The fresh answers to a request, as many as its sample needs."""
    found = (answered[request.case].exact(request.key, sample) for sample in range(request.times))
    return tuple(answer for answer in found if answer is not None)


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
    recorder.request_body = lambda request: dict(parse_json(request.body))  # also of a stream, which is asked for whole
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

    async def advance(self, answers: Answers, asked: Sequence[str] = ()) -> RoundState:
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
        return RoundState(
            proven=len(self.wanted) - waiting,
            waiting=waiting - len(failed),
            failed=len(failed),
            taken=answers.taken,
            known_before=answers.known_before(known),
            pending=tuple(wire.pending.values()),
        )


_SHOWN: Final = 12  # characters of a custom_id, as in other remarks
