"""Replay transports: answer requests from the cassette of the current trial, never from the network."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any, ClassVar, Final

import httpx
import httpx2

from evals.cassettes.calls_and_misses import Ledger, MissRecord, describe
from evals.cassettes.cassette_data import Cassette, Interaction
from evals.cassettes.request_key import parse_json, request_key
from evals.errors import MissError

AGENT_HEADER: Final = "x-triage-agent"
_MODEL_IN_PATH: Final = re.compile(r"/models/([^/:?]+):")


@dataclass
class Tape:
    """What one trial hears: the case's cassette, which of how many samples it plays, and the trial's own ledger."""

    cassette: Cassette
    ledger: Ledger = field(default_factory=Ledger)
    sample: int = 0
    samples: int = 1
    _asked: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        if not 0 <= self.sample < self.samples:
            raise ValueError(f"sample {self.sample} of {self.samples}: samples are counted from 0")

    def turn(self, key: str) -> int:
        """Which sample answers this request: (trial + occurrence) modulo k. A trial that asks one thing twice hears two
        answers if there are two, and over k trials every answer is heard equally often."""
        turn = self.next_turn(key)
        self._asked[key] += 1
        return turn

    def next_turn(self, key: str) -> int:
        """What `turn` will say of this request; looking takes no turn."""
        return (self.sample + self._asked[key]) % self.samples


current_tape: Final[ContextVar[Tape | None]] = ContextVar("current_tape", default=None)


@contextmanager
def playing(tape: Tape) -> Iterator[Tape]:
    """`tape` is the current one inside the block, for this task or thread and those started from it."""
    token = current_tape.set(tape)
    try:
        yield tape
    finally:
        current_tape.reset(token)


@dataclass(frozen=True)
class IncomingRequest:
    """A request, whichever library makes it. `path` includes the query."""

    method: str
    path: str
    body: bytes
    agent: str

    @cached_property
    def key(self) -> str:
        """The request's name on any tape."""
        return request_key(self.method, self.path, self.body)

    @property
    def model(self) -> str:
        """The model that body or path (Gemini) names, empty if none."""
        if named := _MODEL_IN_PATH.search(self.path):
            return named[1]
        try:
            body = parse_json(self.body)
        except ValueError:
            return ""
        return str(body.get("model") or "") if isinstance(body, dict) else ""


def asked(method: str, raw_path: bytes, headers: Mapping[str, str], body: bytes) -> IncomingRequest:
    """The request in our words; without the agent's header only a search can be attributed."""
    path = raw_path.decode("ascii")
    unnamed = "web_search" if path.partition("?")[0].endswith("/search") else "unknown"
    return IncomingRequest(method, path, body, headers.get(AGENT_HEADER) or unnamed)


def tape_of(request: IncomingRequest) -> Tape:
    """The current tape. Raises MissError if there is none, which is a mistake of the caller."""
    tape = current_tape.get()
    if tape is None:
        raise MissError(f"no tape is set for a request by {request.agent}: wrap the trial in `playing(tape)`")
    return tape


def play(request: IncomingRequest) -> Interaction:
    """The recorded answer. Raises MissError, and leaves a trace of it in the ledger, if there is none."""
    tape = tape_of(request)
    sample = tape.turn(request.key)
    found = tape.cassette.exact(request.key, sample)
    if found is None:
        raise missed(tape, request, sample)
    tape.ledger.served.append(found)
    return found


def heard(key: str) -> Interaction | None:
    """The recorded answer as `play` serves it; None, and nothing has happened, where there is none or no tape."""
    tape = current_tape.get()
    found = tape.cassette.exact(key, tape.next_turn(key)) if tape is not None else None
    if tape is None or found is None:
        return None
    tape.turn(key)
    tape.ledger.served.append(found)
    return found


def missed(tape: Tape, request: IncomingRequest, sample: int) -> MissError:
    """Enters the miss in the ledger and returns the error to raise."""
    ledger = tape.ledger
    miss = MissRecord(
        key=request.key,
        sample=sample,
        agent=request.agent,
        method=request.method,
        path=request.path,
        model=request.model,
        body=request.body,
        served_before=len(ledger.served),
    )
    ledger.misses.append(miss)
    return MissError(f"{tape.cassette.path}: not recorded: {describe(miss)}; `evals plan` tells why")


def headers_of(interaction: Interaction) -> dict[str, str]:
    """The headers of a replayed answer: the one that was kept."""
    return {"content-type": interaction.content_type}


class _Replay:
    """What a transport does, whichever library has it: answers clients, sync and async, from the current tape."""

    _library: ClassVar[ModuleType]

    def handle_request(self, request: Any) -> Any:  # noqa: ANN401 - requests and responses of two libraries
        """The recorded answer; raises MissError."""
        return self._answer(request, request.read())

    async def handle_async_request(self, request: Any) -> Any:  # noqa: ANN401 - as above
        """The recorded answer; raises MissError."""
        return self._answer(request, await request.aread())

    def _answer(self, request: Any, body: bytes) -> Any:  # noqa: ANN401 - as above
        found = play(asked(request.method, request.url.raw_path, request.headers, body))
        return self._library.Response(found.status, headers=headers_of(found), content=found.body)


class ReplayTransport(_Replay, httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    """For httpx2 clients."""

    _library: ClassVar[ModuleType] = httpx2


class HttpxReplayTransport(_Replay, httpx.BaseTransport, httpx.AsyncBaseTransport):
    """For httpx clients."""

    _library: ClassVar[ModuleType] = httpx
