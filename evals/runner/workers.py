"""Worker processes that may hang or die: each costs its own case at most, and the run goes on with a new one.

A process of its own per worker and a pipe to each, since the library's pool is lost as a whole with one dead worker and
cannot end one that hangs. A task that does not come back is run again variant by variant; what then hangs or dies
by itself is a failed trial with one sentence.
"""

import contextlib
import multiprocessing
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Final

from evals.models.trace import Trace
from evals.runner.task import CaseTask, failed, no_end, run_case

START_UP: Final = 60.0
"""Seconds a worker may take on top of its trials: it loads LangGraph and Chroma and indexes the case's code."""

LEAVE: Final = 10.0
"""Seconds an idle worker may take to leave."""

Work = Callable[[CaseTask], list[Trace]]


@dataclass
class _Worker:
    """A process, our end of the pipe to it, the task it has, and when that must be done."""

    process: BaseProcess
    pipe: Connection
    task: CaseTask
    deadline: float

    def hand(self, task: CaseTask) -> None:
        """Give it the next task. Whether it is still there to take it, the pipe says afterwards."""
        self.task = task
        self.deadline = time.monotonic() + START_UP + task.trial_timeout * len(task.variants)
        with contextlib.suppress(OSError):
            self.pipe.send(task)

    def take(self) -> list[Trace] | None:
        """The traces it sent; None if it sent none, and is dead or out of time."""
        try:
            traces: list[Trace] | None = self.pipe.recv() if self.pipe.poll() else None
        except (EOFError, OSError):
            self.process.join(5)
            return None
        return traces

    def end(self, task: CaseTask) -> str:
        """Kill it if it is still there; what has become of `task` then, as a sentence."""
        hung = self.process.is_alive()
        self.process.kill()
        self.process.join()
        self.pipe.close()
        if hung:
            return no_end(task)
        code = self.process.exitcode or 0
        how = f"by signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"with exit code {code}"
        memory = "; often the memory is used up: try fewer --jobs" if code == -signal.SIGKILL else ""
        return f"the worker process died {how}{memory}"


def run_tasks(tasks: Sequence[CaseTask], jobs: int, work: Work = run_case) -> Iterator[list[Trace]]:
    """What `work` gives for each task, as they finish; all workers are gone when this is left, however it is left."""
    waiting, busy, leaving = deque(tasks), list[_Worker](), list[_Worker]()
    try:
        while waiting or busy:
            while waiting and len(busy) < jobs:
                busy.append(_started(waiting.popleft(), work))
            for worker in _back(busy):
                task, traces = worker.task, worker.take()
                if traces is None:
                    busy.remove(worker)
                    yield _given_up(task, waiting, worker.end(task))
                    continue
                if waiting:
                    worker.hand(waiting.popleft())
                else:
                    busy.remove(worker)
                    leaving.append(worker)
                    worker.pipe.close()
                yield traces
    finally:
        for worker in busy:
            worker.end(worker.task)
        for worker in leaving:  # a worker that may leave by itself tidies up behind the libraries it loaded
            worker.process.join(LEAVE)
            worker.process.kill()
            worker.process.join()


def _back(busy: Sequence[_Worker]) -> list[_Worker]:
    """The workers that sent something, died, or had their time; waits for the first of them."""
    patience = min(worker.deadline for worker in busy) - time.monotonic()
    ready = wait([worker.pipe for worker in busy], max(patience, 0))
    now = time.monotonic()
    return [worker for worker in busy if worker.pipe in ready or worker.deadline <= now]


def _given_up(task: CaseTask, waiting: deque[CaseTask], why: str) -> list[Trace]:
    """The variants of a lost task go back one by one, to find the one at fault; one that was alone has failed."""
    if len(task.variants) == 1:
        return [failed(task, task.variants[0], why)]
    waiting.extend(replace(task, variants=(variant,)) for variant in task.variants)
    return []


def _started(task: CaseTask, work: Work) -> _Worker:
    context = multiprocessing.get_context("spawn")  # forked children would inherit threads of native libraries
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, work), daemon=True)
    process.start()
    theirs.close()  # so that the pipe ends with the worker
    worker = _Worker(process, ours, task, 0.0)
    worker.hand(task)
    return worker


def _serve(pipe: Connection, work: Work) -> None:
    """A worker: tasks in, traces out, until the other end is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent ends its workers
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        pipe.send(work(task))
