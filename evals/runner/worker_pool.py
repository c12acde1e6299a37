"""Worker processes that may hang or die without ending the run."""

import contextlib
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final, Generic, Protocol, Self, TypeVar, cast

from evals.fork_server import process_for
from evals.import_limits import LONGEST_IMPORT, START_UP, Import, listeners, say_if_slow, too_long

LEAVE: Final = 10.0
"""Seconds an idle worker may take to leave."""


class WorkerTask(Protocol):
    """What a worker is given. Everything in it can be sent to another process."""

    @property
    def patience(self) -> float:
        """Seconds it may take."""

    @property
    def overdue(self) -> str:
        """What is said of it when it took longer."""

    @property
    def process(self) -> str | None:
        """Names the workers that may do it, if not all may: a worker that has done another task may not."""

    def parts(self) -> Sequence[Self]:
        """The same work as smaller tasks; itself alone if it cannot be divided."""


GivenTask = TypeVar("GivenTask", bound=WorkerTask)
Result = TypeVar("Result")


@dataclass
class _Worker(Generic[GivenTask, Result]):
    """A process, our end of the pipe to it, the task it has, and when that must be done."""

    process: BaseProcess
    pipe: Connection
    task: GivenTask
    deadline: float = 0.0
    imports: Import | None = None
    """What it imports now; the time that takes is not the task's."""

    def hand(self, task: GivenTask, work: Callable[[GivenTask], Result]) -> None:
        """Give it the next task. Whether it is still there to take it, the pipe says afterwards."""
        self.task = task
        self.deadline = time.monotonic() + START_UP + task.patience
        with contextlib.suppress(OSError):
            self.pipe.send((work, task))

    def note(self, event: Import) -> None:
        """It begins an import, or has ended one."""
        self.imports = event if event.seconds is None else None
        self.deadline = time.monotonic() + (LONGEST_IMPORT if self.imports else START_UP + self.task.patience)
        say_if_slow(event)

    def take(self) -> Result | Import | None:
        """What it sent; None if it sent nothing, and is dead or out of time."""
        try:
            return cast("Result | Import", self.pipe.recv()) if self.pipe.poll() else None
        except (EOFError, OSError):
            self.process.join(5)
            return None

    def end(self) -> str:
        """Kill it if it is still there; what has become of its task then, as a sentence."""
        hung = self.process.is_alive()
        self.process.kill()
        self.process.join()
        self.pipe.close()
        if hung and self.imports:
            return too_long(self.imports.what, LONGEST_IMPORT)
        self.imports = None
        if hung:
            return self.task.overdue
        code = self.process.exitcode or 0
        how = f"by signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"with exit code {code}"
        memory = "; often the memory is used up: try fewer --jobs" if code == -signal.SIGKILL else ""
        ended = ": the code under test has ended it" if code >= 0 else ""
        return f"the worker process died {how}{memory}{ended}"


def run_tasks(
    tasks: Sequence[GivenTask],
    jobs: int,
    work: Callable[[GivenTask], Result],
    lost: Callable[[GivenTask, str], Result],
) -> Iterator[Result]:
    """What `work` gives for each task, as they finish; all workers are gone when this is left, however it is left.

    Tasks of one process are done one after the other. `lost` says what becomes of a task that no worker came back from,
    and why; one that was divided comes back in parts.
    """
    in_order = sorted(tasks, key=lambda task: task.process or "")
    waiting, busy, done = deque(in_order), list[_Worker[GivenTask, Result]](), list[_Worker[GivenTask, Result]]()
    try:
        while waiting or busy:
            while waiting and len(busy) < jobs:
                worker: _Worker[GivenTask, Result] = _started(waiting[0])
                worker.hand(waiting.popleft(), work)
                busy.append(worker)
            for worker in _back(busy):
                result = worker.take()
                if isinstance(result, Import):
                    worker.note(result)
                    continue
                if result is None:
                    busy.remove(worker)
                    why, parts = worker.end(), worker.task.parts()
                    if worker.imports:  # the others would wait as long
                        same = [task for task in waiting if task.process == worker.task.process]
                        yield from (lost(task, why) for task in (worker.task, *same))
                        waiting = deque(task for task in waiting if task not in same)
                    elif len(parts) == 1:
                        yield lost(worker.task, why)
                    else:
                        waiting.extend(parts)
                    continue
                if waiting and waiting[0].process == worker.task.process:
                    worker.hand(waiting.popleft(), work)
                else:
                    busy.remove(worker)
                    done.append(worker)
                    worker.pipe.close()
                yield result
    finally:
        for worker in busy:
            worker.end()
        _left(done)


def _left(workers: Sequence[_Worker[Any, Any]]) -> None:
    """Let them go: a worker that may leave by itself tidies up behind the libraries it loaded."""
    for worker in workers:
        worker.pipe.close()
    for worker in workers:
        worker.process.join(LEAVE)
        worker.process.kill()
        worker.process.join()


def _back(busy: Sequence[_Worker[GivenTask, Result]]) -> list[_Worker[GivenTask, Result]]:
    """The workers that sent something, died, or had their time; waits for the first of them."""
    patience = min(worker.deadline for worker in busy) - time.monotonic()
    ready = wait([worker.pipe for worker in busy], max(patience, 0))
    now = time.monotonic()
    return [worker for worker in busy if worker.pipe in ready or worker.deadline <= now]


@contextlib.contextmanager
def beside(work: Callable[[], object]) -> Iterator[None]:
    """`work` is done in one process more, and is over when the block is left; it is ended where that is by an error.

    For what is wanted afterwards anyway, and kept: what goes wrong with it is said then, to whoever does it again.
    """
    process, pipe = process_for(_serve)
    try:
        pipe.send((_quietly, work))
        yield
        with contextlib.suppress(EOFError, OSError):
            pipe.recv()
    finally:
        process.kill()
        process.join()
        pipe.close()


def _quietly(work: Callable[[], object]) -> None:
    with contextlib.suppress(Exception):
        work()


def _started(task: GivenTask) -> _Worker[GivenTask, Result]:
    process, pipe = process_for(_serve)
    return _Worker[GivenTask, Result](process, pipe, task)


def _serve(pipe: Connection, environment: Mapping[str, str]) -> None:
    """A worker: tasks in, results out, until the other end is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent ends its workers
    os.environ.clear()  # it may have changed since the server began
    os.environ.update(environment)
    listeners.append(pipe.send)
    while True:
        try:
            work, task = pipe.recv()
        except (EOFError, OSError):  # nothing more, or no more than a part
            break
        pipe.send(work(task))
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.current_thread()):
        os._exit(0)  # Python would wait for threads that the code under test has left behind
