"""Recording: what is on the tape is served from it, what is missing is asked once, checked, written, then served.

An answer reaches its caller only after it is on disk, in the redacted form a replay will serve, so that a recording
run and its replay see the same bytes and a kill loses no more than the request in flight.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import httpx
import httpx2

from evals.cassette.key import parse_json
from evals.cassette.player import Asked, Tape, asked, headers_of, tape_of
from evals.cassette.redact import redact_request, redact_response, scrub
from evals.cassette.store import Cassette, Interaction, merge_write
from evals.cassette.vcr_file import Usage
from evals.errors import EvalsError, MissError, RecordingError

sample_being_asked: Final[ContextVar[int]] = ContextVar("sample_being_asked", default=0)
"""Told to what answers: equal requests that are asked as different samples want different answers."""

_SHOWN: Final = 200  # characters of a refused answer in the error


@dataclass(frozen=True)
class Reply:
    """What came over the wire, whichever library carried it."""

    status: int
    content_type: str
    body: bytes


Send = Callable[[], Awaitable[Reply]]


@dataclass
class Recorder:
    """One recording session, shared by the transports of both libraries and by all trials of one event loop.

    `now` gives the time of day, `stopwatch` monotonic seconds. `model` is who answers where a model's answer does not
    say so itself. `slots` bounds the requests in flight. `admit` may refuse a request before it costs anything (a
    budget, by raising RecordingError), `recorded` hears of each new
    answer, and `failures` keeps what agents and tools swallow (misses excepted: those are in the trial's ledger).
    """

    now: Callable[[], datetime]
    stopwatch: Callable[[], float]
    recorded_by: str | None = None
    model: str | None = None
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    admit: Callable[[Asked], None] = lambda _: None
    recorded: Callable[[Interaction], None] = lambda _: None
    failures: list[EvalsError] = field(default_factory=list)
    _newest: dict[Path, Cassette] = field(default_factory=dict)
    _asking: dict[tuple[Path, str, int], "asyncio.Task[Interaction]"] = field(default_factory=dict)

    async def answer(self, request: Asked, send: Send) -> Interaction:
        """The interaction for a request, recorded now if it was not yet.

        Raises RecordingError if the endpoint gave nothing usable, SecretFoundError if what it gave must not be kept.
        """
        tape = tape_of(request)
        key = request.key
        found = self._known(tape, key)
        if found is None:
            found = await self._ask_once(tape, key, request, send)
            self._known(tape, key)
        tape.ledger.served.append(found)
        return found

    def _known(self, tape: Tape, key: str) -> Interaction | None:
        """The recorded answer; what another trial of the same case has recorded meanwhile counts."""
        newest = self._newest.get(tape.cassette.path)
        if newest is not None and newest is not tape.cassette:
            tape.cassette = self._newest[newest.path] = newest.union(tape.cassette.interactions)
        return tape.cassette.exact(key, tape.sample)

    async def _ask_once(self, tape: Tape, key: str, request: Asked, send: Send) -> Interaction:
        """Equal requests share one task. It is shielded: an answer under way is paid for, and worth keeping."""
        name = (tape.cassette.path, key, tape.sample)
        if name not in self._asking:
            task = asyncio.create_task(self._ask(tape.cassette.path, tape.sample, request, send))
            task.add_done_callback(lambda done: self._settle(name, done))
            self._asking[name] = task
        return await asyncio.shield(self._asking[name])

    def _settle(self, name: tuple[Path, str, int], done: "asyncio.Task[Interaction]") -> None:
        del self._asking[name]
        if (
            not done.cancelled()
            and isinstance(error := done.exception(), EvalsError)
            and not isinstance(error, MissError)
        ):
            self.failures.append(error)

    async def _ask(self, path: Path, sample: int, request: Asked, send: Send) -> Interaction:
        body = _askable(request)
        sample_being_asked.set(sample)  # in this task's own context
        async with self.slots:
            self.admit(request)
            started = self.stopwatch()
            reply = await send()
            latency_ms = round((self.stopwatch() - started) * 1000, 1)
        answer = redact_response(request.path.partition("?")[0], usable(request, reply))
        interaction = Interaction(
            key=request.key,
            agent=request.agent,
            sample=sample,
            model=str(answer.get("model") or (request.model and (self.model or request.model))),
            method=request.method,
            uri=request.path,
            request=redact_request(body),
            status=reply.status,
            response=answer,
            recorded_at=self.now().astimezone(UTC).isoformat(timespec="seconds"),
            usage=usage_of(answer),
            latency_ms=latency_ms,
            recorded_by=self.recorded_by,
        )
        return await self._keep(path, interaction)

    async def _keep(self, path: Path, interaction: Interaction) -> Interaction:
        """To disk in a thread (it syncs), then visible to every trial of the case.

        Returns what the file holds: if another process was first, its answer is the one a replay will hear.
        """
        merged = await asyncio.to_thread(merge_write, path, [interaction])
        newest = self._newest.get(path)
        self._newest[path] = merged if newest is None else merged.union(newest.interactions)
        self.recorded(interaction)
        return merged.exact(interaction.key, interaction.sample) or interaction


def usable(request: Asked, reply: Reply) -> dict[str, Any]:
    """The answer's JSON object. Raises RecordingError if it is no success, no whole JSON or of another shape."""
    if not 200 <= reply.status <= 299:
        raise _refused(request, f"status {reply.status}", reply)
    kind = reply.content_type.partition(";")[0].strip().lower()
    if kind != "application/json":
        raise _refused(request, f"content type {kind or 'missing'} where application/json is due", reply)
    try:
        answer = parse_json(reply.body)
    except ValueError:
        raise _refused(request, "a body that is not whole JSON", reply) from None
    if not isinstance(answer, dict) or not _fits(request.path.partition("?")[0], answer):
        raise _refused(request, "JSON of another shape than the protocol's", reply)
    return answer


def usage_of(answer: Mapping[str, Any]) -> Usage:
    """The tokens the server counted; zeros if it did not count."""
    usage = answer.get("usage")
    counts = usage if isinstance(usage, Mapping) else {}
    return Usage(**{name: counts[name] for name in Usage.model_fields if _is_count(counts.get(name))})


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _askable(request: Asked) -> dict[str, Any]:
    try:
        body = parse_json(request.body)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise RecordingError(f"{request.agent} sent a body that is no JSON object: only those can be recorded")
    if body.get("stream"):
        raise RecordingError(f"{request.agent} asked for a stream: set disable_streaming=True on its model")
    return body


def _fits(path: str, answer: Mapping[str, Any]) -> bool:
    if path.endswith("/chat/completions"):
        choices = answer.get("choices")
        return isinstance(choices, list) and bool(choices) and all(map(_is_whole_choice, choices))
    if path.endswith("/search"):
        results = answer.get("results")
        return isinstance(results, list) and all(isinstance(result, dict) for result in results)
    return True


def _is_whole_choice(choice: object) -> bool:
    """A choice that has a message and says why it ended."""
    return isinstance(choice, dict) and isinstance(choice.get("message"), dict) and bool(choice.get("finish_reason"))


def _refused(request: Asked, cause: str, reply: Reply) -> RecordingError:
    shown = " ".join(scrub(reply.body.decode(errors="replace")[: 10 * _SHOWN]).split())[:_SHOWN]
    return RecordingError(f"the endpoint answered {request.agent} with {cause}, nothing recorded: {shown!r}")


def _unreachable(request: Asked, error: Exception) -> RecordingError:
    cause = f"{type(error).__name__}: {error}".rstrip(": ")
    return RecordingError(f"no answer for {request.agent} ({cause}): see that the endpoint is up, then run it again")


class RecordingTransport(httpx2.AsyncBaseTransport):
    """For httpx2 clients (OpenAI); `inner` is a live `httpx2.AsyncHTTPTransport`."""

    def __init__(self, recorder: Recorder, inner: httpx2.AsyncBaseTransport) -> None:
        self._recorder = recorder
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The recorded answer, or a live one that is recorded now."""
        ours = asked(request.method, request.url.raw_path, request.headers, await request.aread())

        async def send() -> Reply:
            try:
                response = await self._inner.handle_async_request(request)
                async with aclosing(response):
                    body = await response.aread()
            except httpx2.HTTPError as error:
                raise _unreachable(ours, error) from error
            return Reply(response.status_code, response.headers.get("content-type", ""), body)

        found = await self._recorder.answer(ours, send)
        return httpx2.Response(found.status, headers=headers_of(found), content=found.body)

    async def aclose(self) -> None:
        """Closes the live connections."""
        await self._inner.aclose()


class HttpxRecordingTransport(httpx.AsyncBaseTransport):
    """For httpx clients (Tavily); `inner` is a live `httpx.AsyncHTTPTransport`."""

    def __init__(self, recorder: Recorder, inner: httpx.AsyncBaseTransport) -> None:
        self._recorder = recorder
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The recorded answer, or a live one that is recorded now."""
        ours = asked(request.method, request.url.raw_path, request.headers, await request.aread())

        async def send() -> Reply:
            try:
                response = await self._inner.handle_async_request(request)
                async with aclosing(response):
                    body = await response.aread()
            except httpx.HTTPError as error:
                raise _unreachable(ours, error) from error
            return Reply(response.status_code, response.headers.get("content-type", ""), body)

        found = await self._recorder.answer(ours, send)
        return httpx.Response(found.status, headers=headers_of(found), content=found.body)

    async def aclose(self) -> None:
        """Closes the live connections."""
        await self._inner.aclose()
