"""Recording transports: serve what is recorded, ask once for what is missing, check, stage and store the answer."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from glob import escape
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Final

import httpx
import httpx2

from evals import atomic_files as disk
from evals.cassettes.cassette_data import Cassette, Interaction
from evals.cassettes.cassette_files import load, merge_write, rendered
from evals.cassettes.cassette_schema import MAX_ANSWERS, Usage
from evals.cassettes.event_loop_thread import here
from evals.cassettes.live_answer import HttpReply, Send, refusal, sending, usable, usage_of
from evals.cassettes.package_line_references import ROW, SourceTree, quoted, tree_for
from evals.cassettes.player import IncomingRequest, Tape, asked, headers_of, tape_of
from evals.cassettes.request_key import parse_json
from evals.errors import CassetteError, EvalsError, MissError, RecordingError, RecordingStoppedError, SecretFoundError
from evals.secret_filter import (
    allowed_beside,
    redact_request,
    redact_response,
    refuse_secret_request,
    refuse_secrets,
    scrub,
)
from evals.shared.secrets.scanner import HELD

_LOCK: Final = "arrived.lock"
"""Not the cassette's own: that one is held for as long as its file is read and written."""


def stage(path: Path, interaction: Interaction, tree: str | None = None) -> None:
    """Keep an answer that is for the cassette at `path`; `tree` names the released package it is about.

    Raises SecretFoundError before anything is written, CassetteError if the system refuses to write it.
    """
    refuse_secrets(path, interaction, allowed_beside(path), tree=tree_for(path, tree) if tree else None)
    place = _place(path, interaction)
    with disk.writing(path, by=_LOCK):
        disk.replace(place, rendered(Cassette(path, [interaction], tree=tree)), synced=False)


def settle_staged(path: Path, interaction: Interaction) -> None:
    """The cassette at `path` holds it now."""
    _place(path, interaction).unlink(missing_ok=True)


def take_staged(path: Path) -> None:
    """Add to the cassette at `path` what came in for it and was not added, by whoever.

    Raises CassetteError if it cannot be read or written.
    """
    for place in _all(path, ""):
        try:
            found = load(place)
        except CassetteError:  # cut short by a power cut, which nobody was promised to survive
            found = Cassette(place)
        if found.interactions:
            merge_write(path, found.interactions, tree=found.tree)
        place.unlink(missing_ok=True)
    if _all(path, ".tmp"):
        with disk.writing(path, by=_LOCK):
            for half in _all(path, ".tmp"):
                half.unlink()


def _place(path: Path, interaction: Interaction) -> Path:
    return path.with_name(f".{path.name}.{interaction.key[:16]}.{interaction.sample}.arrived")


def _all(path: Path, suffix: str) -> list[Path]:
    dots = "." if suffix else ""
    return sorted(path.parent.glob(f"{dots}.{escape(path.name)}.{'[0-9a-f]' * 16}.*.arrived{suffix}"))


class StopSignal:
    """What is under way goes on to its end; what has not begun, or waits to be tried again, does not."""

    def __init__(self) -> None:
        self.reason: RecordingStoppedError | None = None
        self._event = asyncio.Event()

    def set(self, reason: RecordingStoppedError) -> None:
        """Stop, for this reason; the first one stays."""
        self.reason = self.reason or reason
        self._event.set()

    def check(self) -> None:
        """Raises RecordingStoppedError if it is set."""
        if self.reason is not None:
            raise self.reason

    async def sleep(self, seconds: float) -> None:
        """Wait that long, or until it is set."""
        try:
            await asyncio.wait_for(self._event.wait(), seconds)
        except TimeoutError:
            return


sample_being_asked: Final[ContextVar[int]] = ContextVar("sample_being_asked", default=0)
"""Told to what answers: equal requests that are asked as different samples want different answers."""

_FAILURES_IN_A_ROW: Final = 5
"""As many requests without one answer in between, and the endpoint is not going to get better by itself."""


async def once(send: Send) -> HttpReply:
    """Asks, and takes what comes."""
    return await send()


def askable(request: IncomingRequest) -> dict[str, Any]:
    """The request's JSON object; raises RecordingError for a stream or any other body."""
    try:
        body = parse_json(request.body)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise RecordingError(f"{scrub(request.agent)} sent a body that is no JSON object: only those can be recorded")
    if body.get("stream"):
        raise RecordingError(f"{scrub(request.agent)} asked for a stream: set disable_streaming=True on its model")
    return body


def whole_answer(request: IncomingRequest, reply: HttpReply) -> dict[str, Any]:
    """The answer's JSON object as it is kept. Raises RecordingError if that is of no use."""
    return redact_response(request.path.partition("?")[0], usable(request, reply))


@dataclass
class _Queue:
    """Answers of one case that wait to be written, and whose turn it is to write them."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    answers: list[Interaction] = field(default_factory=list)


@dataclass
class Recorder:
    """One recording session, shared by the transports of both libraries and by all trials of one event loop.

    `now` gives the time of day, `stopwatch` monotonic seconds. `model` is who answers where a model's answer does not
    say so itself. `slots` bounds the requests in flight. `admit` may refuse a request before it costs anything (a
    budget, by raising RecordingStoppedError); `settle` hears what became of every request that was admitted, None if it
    came to nothing; `recorded` hears of each new answer. `persist` sends a request, again if need be, and `apart` is
    where its answer is waited for. `stop` ends the session. What goes wrong is in the ledger of the trial that asked.
    """

    now: Callable[[], datetime]
    stopwatch: Callable[[], float]
    recorded_by: str | None = None
    model: str | None = None
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    admit: Callable[[IncomingRequest], None] = lambda _: None
    settle: Callable[[IncomingRequest, Usage | None], None] = lambda *_: None
    recorded: Callable[[Interaction], None] = lambda _: None
    persist: Callable[[Send], Awaitable[HttpReply]] = once
    apart: Callable[[Coroutine[Any, Any, Any]], Awaitable[Any]] = here
    stop: StopSignal = field(default_factory=StopSignal)
    request_body: Callable[[IncomingRequest], dict[str, Any]] = askable
    """The JSON object that is kept of a request; raises RecordingError if there is none."""
    answer_body: Callable[[IncomingRequest, HttpReply], dict[str, Any]] = whole_answer
    """The JSON object that is kept of an answer; raises RecordingError if there is none."""
    answerer: Callable[[IncomingRequest], Awaitable[HttpReply]] | None = None
    """Answers the model requests of a target in the place of the target's own endpoint."""
    _failed_in_a_row: int = 0
    _newest: dict[Path, Cassette] = field(default_factory=dict)
    _queues: dict[Path, _Queue] = field(default_factory=dict)
    _bytes: dict[Path, int] = field(default_factory=dict)
    _asking: dict[tuple[Path, str, int], "asyncio.Task[Interaction]"] = field(default_factory=dict)

    @property
    def in_flight(self) -> int:
        """Requests that are being asked, or wait for a slot."""
        return len(self._asking)

    def forget(self, path: Path) -> None:
        """No trial of this cassette is to come: give back the memory it takes."""
        self._newest.pop(path, None)
        self._queues.pop(path, None)
        self._bytes.pop(path, None)

    async def answer(self, request: IncomingRequest, send: Send) -> Interaction:
        """The interaction for a request, recorded now if it was not yet.

        Raises RecordingError if the endpoint gave nothing usable, SecretFoundError if what it gave must not be kept.
        """
        tape = tape_of(request)
        sample = tape.turn(request.key)
        found = self._known(tape, request.key, sample)
        if found is None:
            try:
                found = await self._ask_once(tape.cassette, sample, request, send)
            except MissError:
                raise  # in the ledger already
            except EvalsError as error:
                tape.ledger.failures.append(error)  # agents and tools swallow it
                raise
            self._known(tape, request.key, sample)
        tape.ledger.served.append(found)
        return found

    def _known(self, tape: Tape, key: str, sample: int) -> Interaction | None:
        """The recorded answer; what another trial of the same case has recorded meanwhile counts."""
        newest = self._newest.get(tape.cassette.path)
        if newest is not None and newest is not tape.cassette:
            tape.cassette = self._newest[newest.path] = tape.cassette.union(newest.interactions)
        return tape.cassette.exact(key, sample)

    async def _ask_once(self, cassette: Cassette, sample: int, request: IncomingRequest, send: Send) -> Interaction:
        """Equal requests share one task. It is shielded: an answer under way is paid for, and worth keeping."""
        name = (cassette.path, request.key, sample)
        if cassette.path not in self._bytes:
            self._bytes[cassette.path] = sum(len(found.body) for found in cassette.interactions)
        if name not in self._asking:
            task = asyncio.create_task(self._ask(cassette.path, cassette.tree, sample, request, send))
            task.add_done_callback(lambda done: self._over(name, done))
            self._asking[name] = task
        return await asyncio.shield(self._asking[name])

    def _over(self, name: tuple[Path, str, int], done: "asyncio.Task[Interaction]") -> None:
        """Count failures in a row: an endpoint that is broken is not asked for every trial of a suite."""
        del self._asking[name]
        error = None if done.cancelled() else done.exception()
        if isinstance(error, RecordingStoppedError):
            self.stop.set(error)
        elif isinstance(error, CassetteError) and (not isinstance(error, SecretFoundError) or HELD in str(error)):
            self.stop.set(RecordingStoppedError(str(error)))  # what cannot be kept is not paid for again
        elif isinstance(error, RecordingError):
            self._failed_in_a_row += 1
            if self._failed_in_a_row == _FAILURES_IN_A_ROW:
                self.stop.set(RecordingStoppedError(f"{_FAILURES_IN_A_ROW} requests in a row failed; {error}"))
        elif error is None:
            self._failed_in_a_row = 0

    async def _ask(
        self, path: Path, tree: str | None, sample: int, request: IncomingRequest, send: Send
    ) -> Interaction:
        body = redact_request(self.request_body(request))
        source = tree_for(path, tree) if tree else None
        refuse_secret_request(path, request.path, request.agent, request.model, body, source)
        sample_being_asked.set(sample)  # in this task's own context
        answers: list[Interaction] = []

        async def heard() -> HttpReply:
            reply = await self._timed(send)
            if reply.is_success:
                found = self._interaction(request, sample, body, reply)
                refuse_copy(request, found.response, source)
                self._make_room(path, found)
                answers.append(found)
                with _or_stop(path):
                    stage(path, found, tree)
            return reply

        async with self.slots:
            self.stop.check()
            self.admit(request)
            try:
                reply = await self.persist(lambda: self.apart(heard()))
                if not answers:
                    raise refusal(request, reply)
            finally:
                self.settle(request, answers[-1].usage if answers else None)
        return await self._keep(path, tree, answers[-1])

    def _make_room(self, path: Path, found: Interaction) -> None:
        """Raises RecordingError if the cassette would hold too much with this answer."""
        size = self._bytes[path] + len(found.body)
        if size > MAX_ANSWERS:
            raise RecordingError(
                f"the answer to {scrub(found.agent)} would bring the answers in {path.name} to {size:,} bytes, where "
                f"{MAX_ANSWERS:,} is the limit; it is not kept: set `max_output_tokens`"
            )
        self._bytes[path] = size

    def _interaction(
        self, request: IncomingRequest, sample: int, body: dict[str, Any], reply: HttpReply
    ) -> Interaction:
        """What was asked, as it is kept, and what came. Raises RecordingError if that is of no use."""
        answer = self.answer_body(request, reply)
        return Interaction(
            key=request.key,
            agent=request.agent,
            sample=sample,
            model=str(answer.get("model") or (request.model and (self.model or request.model))),
            method=request.method,
            uri=request.path,
            request=body,
            status=reply.status,
            response=answer,
            recorded_at=self.now().astimezone(UTC).isoformat(timespec="seconds"),
            usage=usage_of(answer),
            latency_ms=reply.latency_ms,
            recorded_by=self.recorded_by,
        )

    async def _timed(self, send: Send) -> HttpReply:
        """One attempt, with how long it took: what was waited before it says nothing about the model."""
        started = self.stopwatch()
        reply = await send()
        return replace(reply, latency_ms=round((self.stopwatch() - started) * 1000, 1))

    async def _keep(self, path: Path, tree: str | None, interaction: Interaction) -> Interaction:
        """To disk in a thread (it syncs), then visible to every trial of the case. What comes in while a cassette is
        being written is written together, next: each writing reads and checks all there is.

        Returns what the file holds: if another process was first, its answer is the one a replay will hear.
        """
        queue = self._queues.setdefault(path, _Queue())
        queue.answers.append(interaction)
        with _or_stop(path):
            async with queue.turn:
                if any(waiting is interaction for waiting in queue.answers):
                    await self._write(path, tree, queue, interaction)
            settle_staged(path, interaction)
        self.recorded(interaction)
        newest = self._newest.get(path)
        return (newest and newest.exact(interaction.key, interaction.sample)) or interaction

    async def _write(self, path: Path, tree: str | None, queue: _Queue, interaction: Interaction) -> None:
        """Write what waits; if that fails it fails for `interaction`, and the others try for themselves."""
        together, queue.answers = queue.answers, []
        try:
            merged = await asyncio.to_thread(partial(merge_write, tree=tree), path, together)
        except BaseException:
            queue.answers += [waiting for waiting in together if waiting is not interaction]  # each for itself
            raise
        newest = self._newest.get(path)
        self._newest[path] = merged if newest is None else merged.union(newest.interactions)


def refuse_copy(request: IncomingRequest, response: Mapping[str, Any], tree: SourceTree | None) -> None:
    """Raises RecordingError if an answer copies the released package: it could not be kept."""
    if tree is not None and (copied := quoted(response, tree)):
        raise RecordingError(
            f"the answer to {scrub(request.agent)} copies {ROW} lines in a row of {copied}, and is not kept: somebody "
            "else's code must not be recorded; ask again"
        )


@contextmanager
def _or_stop(path: Path) -> Iterator[None]:
    """Whatever keeps an answer from being kept: the next one would be paid for and lost as well."""
    try:
        yield
    except EvalsError:
        raise
    except Exception as error:
        raise RecordingStoppedError(f"an answer cannot be kept in {path.name} ({type(error).__name__})") from error


class _Door:
    """What a transport does, whichever library has it; `inner` is a live `AsyncHTTPTransport` of that library."""

    _library: ClassVar[ModuleType]

    def __init__(self, recorder: Recorder, inner: httpx.AsyncBaseTransport | httpx2.AsyncBaseTransport) -> None:
        self.recorder = recorder
        self._inner: Any = inner

    async def handle_async_request(self, request: Any) -> Any:  # noqa: ANN401 - requests and responses of two libraries
        """The recorded answer, or a live one that is recorded now."""
        ours = asked(request.method, request.url.raw_path, request.headers, await request.aread())

        send = sending(ours, lambda: self._inner.handle_async_request(request), self._library)
        found = await self.recorder.answer(ours, send)
        return self._library.Response(found.status, headers=headers_of(found), content=found.body)

    async def aclose(self) -> None:
        """Closes the live connections."""
        await self.recorder.apart(self._inner.aclose())


class RecordingTransport(_Door, httpx2.AsyncBaseTransport):
    """For httpx2 clients (OpenAI)."""

    _library: ClassVar[ModuleType] = httpx2


class HttpxRecordingTransport(_Door, httpx.AsyncBaseTransport):
    """For httpx clients (Tavily)."""

    _library: ClassVar[ModuleType] = httpx
