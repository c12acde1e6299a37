"""A process in which a target's trials are recorded: it runs the target, and asks this one for every answer."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from contextvars import Context, copy_context
from itertools import count
from multiprocessing.connection import Connection
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from evals.errors import EvalsError, MissError, RecordingError, RecordingStoppedError
from evals.fork_server import process_for
from evals.import_limits import LONGEST_IMPORT, Import, listeners, say_if_slow, too_long
from evals.models.trace import Trace
from evals.target.variant_checkout import VariantFiles

if TYPE_CHECKING:
    from evals.cassettes.calls_and_misses import MissRecord
    from evals.cassettes.cassette_data import Interaction
    from evals.cassettes.event_loop_thread import Apart
    from evals.cassettes.live_answer import Send
    from evals.cassettes.player import IncomingRequest, Tape
    from evals.models.case import Case
    from evals.models.suite import Variant
    from evals.target.http_capture import Recording

LONGEST: Final = 600.0
"""Seconds that a trial may take while it is recorded."""
Serve = Callable[..., Awaitable[Any]]


class Link:
    """Calls over a connection, in both directions and side by side. `serve` answers those of the other end; `lost` is
    told when there is none any more. Belongs to the event loop it is made in."""

    def __init__(self, pipe: Connection, serve: Serve, lost: Callable[[], str]) -> None:
        self._pipe, self._serve, self._lost = pipe, serve, lost
        self._loop = asyncio.get_running_loop()
        self._numbers = count()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.ended = False
        Thread(target=self._listen, name="link", daemon=True).start()

    async def call(self, *words: Any) -> Any:  # noqa: ANN401 - whatever the other end returns
        """What the other end makes of it, for a caller in any loop. Raises RecordingError for whatever that raises, and
        where it has ended."""
        called = asyncio.run_coroutine_threadsafe(self._call(words), self._loop)
        return await asyncio.wrap_future(called)

    async def _call(self, words: tuple[Any, ...]) -> Any:  # noqa: ANN401 - as `call`
        if self.ended:
            raise RecordingError(self._lost())
        number, answer = next(self._numbers), self._loop.create_future()
        self._waiting[number] = answer
        self._pipe.send(("call", number, words))
        return await answer

    def _listen(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            try:
                while True:
                    self._loop.call_soon_threadsafe(self._take, *self._pipe.recv())
            except (EOFError, OSError):
                self._loop.call_soon_threadsafe(self._end)

    def _take(self, kind: str, number: int, value: Any) -> None:  # noqa: ANN401 - as `call`
        if kind == "call":
            task = self._loop.create_task(self._answer(number, value))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            return
        answer = self._waiting.pop(number)
        if not answer.done():
            answer.set_exception(value) if kind == "error" else answer.set_result(value)

    async def _answer(self, number: int, words: tuple[Any, ...]) -> None:
        try:
            reply = "answer", number, await self._serve(*words)
        except EvalsError as error:
            reply = "error", number, RecordingError(str(error))
        except Exception as error:  # noqa: BLE001 - it is the caller's
            reply = "error", number, RecordingError(f"{type(error).__name__}: {error}")
        with suppress(OSError):
            self._pipe.send(reply)

    def _end(self) -> None:
        self.ended = True
        why = self._lost()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(RecordingError(why))
        self._waiting.clear()


class TrialProcess:
    """Our end: starts the process, and answers it by the recorder of each trial."""

    def __init__(self) -> None:
        self._process, pipe = process_for(serve)
        self._link = Link(pipe, self._serve, self._lost)
        self._trials: dict[int, tuple[Tape, Recording, Context]] = {}
        self._numbers = count()
        self._import: asyncio.Task[Import] | None = None

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._link.ended

    async def run(
        self, case: "Case", variant: "Variant", files: VariantFiles, tape: "Tape", recording: "Recording | None"
    ) -> Trace:
        """The trace of one trial: recorded, or replayed from the tape. Raises RecordingError, and RecordingStoppedError
        if the import hangs."""
        number = next(self._numbers)
        mode = "replayed"
        if recording is not None:
            mode = "live" if recording.recorder.answerer is None else "answered"
            self._trials[number] = tape, recording, copy_context()
        try:
            samples = tape.sample, tape.samples
            if self._import is None:
                self._import = asyncio.create_task(self._link.call(files, mode))
            say_if_slow(await asyncio.wait_for(asyncio.shield(self._import), LONGEST_IMPORT))
            asked = self._link.call(number, case, variant, files, tape.cassette, samples, mode)
            reply = await asyncio.wait_for(asked, LONGEST)
        except TimeoutError:
            self._process.kill()
            if self._import is None or not self._import.done():
                said = too_long("the graph", LONGEST_IMPORT)
                raise RecordingStoppedError(said) from None
            raise RecordingError(f"the target has not ended within {LONGEST:g} s: does it hang?") from None
        finally:
            self._trials.pop(number, None)
        trace: Trace
        trace, tape.ledger.served[:], failures = reply
        if not tape.ledger.failures:
            tape.ledger.failures.extend(failures)
        return trace

    async def _serve(self, trial: int, request: "IncomingRequest", number: int) -> "Interaction | MissRecord":
        """The answer to a request of a trial, or that there is none yet; the process sends it, if nobody else does."""
        from evals.cassettes.player import playing  # noqa: PLC0415

        tape, recording, context = self._trials[trial]

        async def live() -> Any:  # noqa: ANN401 - an HttpReply
            return await self._link.call(number)

        async def answer() -> "Interaction | MissRecord":
            with playing(tape):
                asked = recording.recorder.answer(request, recording.send(request, live))
                try:
                    return await recording.thread(asked)
                except MissError:
                    return tape.ledger.misses[-1]

        return await asyncio.get_running_loop().create_task(answer(), context=context)

    def _lost(self) -> str:
        self._process.join(5)
        return f"the target has ended its process (exit code {self._process.exitcode}); take the exit out of its code"


class _Asking:
    """Stands for the recorder in the process of the trials: asks the other end for answers."""

    answerer: Final = None

    def __init__(self, link: Link, trial: int, sends: "dict[int, Send]", numbers: "count[int]") -> None:
        self._link, self._trial, self._sends, self._numbers = link, trial, sends, numbers

    async def answer(self, request: "IncomingRequest", send: "Send") -> "Interaction":
        """As `evals.cassettes.recorder.Recorder.answer`."""
        from evals.cassettes.cassette_data import Interaction  # noqa: PLC0415
        from evals.cassettes.player import tape_of  # noqa: PLC0415

        ledger, number = tape_of(request).ledger, next(self._numbers)
        self._sends[number] = send
        try:
            found: Interaction | MissRecord = await self._link.call(self._trial, request, number)
        except EvalsError as error:
            ledger.failures.append(error)
            raise
        finally:
            del self._sends[number]
        if not isinstance(found, Interaction):
            ledger.misses.append(found)
            raise MissError(f"not recorded: {request.agent} asked {request.method} {request.path}")
        ledger.served.append(found)
        return found


def serve(pipe: Connection, environment: Mapping[str, str]) -> None:
    """The other end: runs trials until nobody asks any more."""
    from evals.cassettes.event_loop_thread import Apart  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group
    os.environ.clear()
    os.environ.update(environment)
    thread = Apart()
    thread.wait(_serve_trials(pipe, thread))
    os._exit(0)  # threads of the target are not waited for


async def _serve_trials(pipe: Connection, thread: "Apart") -> None:
    from evals.cassettes.player import Tape  # noqa: PLC0415 - loads LangGraph, as the next
    from evals.target.http_capture import Recording  # noqa: PLC0415
    from evals.target.target_trials import target_ready  # noqa: PLC0415

    over = asyncio.Event()
    sends: dict[int, Send] = {}
    numbers = count()

    imports: list[Import] = []
    listeners.append(imports.append)

    async def answered(number: Any, *trial: Any) -> Any:  # noqa: ANN401 - of a trial, or of the endpoint that it asks
        if not trial:
            return await sends[number]()
        if len(trial) == 1:
            with target_ready(number, replay=trial[0] != "live"):
                return imports[-1]
        case, variant, files, cassette, (sample, samples), mode = trial
        tape = Tape(cassette, sample=sample, samples=samples)
        asking: Any = _Asking(link, number, sends, numbers)
        recording = None if mode == "replayed" else Recording(asking, thread)
        with target_ready(files, replay=mode != "live") as target:
            return await target.trace(case, variant, files, tape, recording), tape.ledger.served, tape.ledger.failures

    def lost() -> str:
        over.set()
        return "whoever records has ended"

    link = Link(pipe, answered, lost)
    await over.wait()
