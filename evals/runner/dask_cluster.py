"""Trials on a Dask cluster (`--scheduler dask://HOST:PORT`)."""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing import current_process
from pathlib import Path
from queue import Empty, Queue
from typing import Any, Final, cast

from distributed import Client, Future, KilledWorker, Worker

from evals.errors import CannotJudgeError, ConfigurationError
from evals.import_limits import START_UP
from evals.models.run import VariantInfo
from evals.models.trace import Trace
from evals.package_digests import installed
from evals.runner.case_task import CaseTask, lost, run_case
from evals.runner.trial_cache import Pins, code_digest
from evals.runner.trials import trial_digest
from evals.runner.worker_pool import run_tasks
from evals.workspace import Workspace

CONNECT: Final = 10.0
"""Seconds a scheduler may take to answer."""

RETURN: Final = 60.0
"""Seconds a scheduler that went away may take to come back with workers."""

RETURNS: Final = 3
"""How often it may go away without having finished anything in between."""

LOOK: Final = 1.0
"""Seconds between two looks whether it is still there."""


Work = Callable[[CaseTask, Workspace], list[Trace]]


@dataclass(frozen=True)
class Cluster:
    """A scheduler whose workers have the code of this checkout; `work` is what they do with a task."""

    address: str
    workspace: Workspace
    work: Work

    @classmethod
    def at(cls, address: str, workspace: Workspace) -> "Cluster":
        """The cluster at `HOST:PORT`, checked before anything is run.

        Raises:
            ConfigurationError: a worker outside a checkout, of another version of the code, or with several threads.
            CannotJudgeError: nobody there, or no workers.
        """
        found = cls(address, workspace, run_there)
        with found.client() as client:
            answers = client.run(station, on_error="return")
        there = {worker: answer for worker, answer in answers.items() if not isinstance(answer, OSError)}  # gone since
        _check(address, there, code_digest(workspace.root, workspace.pack))
        return found

    def client(self) -> Client:
        """A connection. Raises CannotJudgeError if nobody answers."""
        for name in ("distributed", "distributed.client", "distributed.comm"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters is said in one line of our own
        try:
            return Client(f"tcp://{self.address}", timeout=CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise CannotJudgeError(
                f"dask://{self.address}: no scheduler answers there; start one with `.venv/bin/dask scheduler`"
            ) from error

    def run(self, tasks: Sequence[CaseTask]) -> Iterator[list[Trace]]:
        """The traces of each task, as they finish. A scheduler that goes away and comes back with workers is given what
        it had not finished once more.

        Raises:
            CannotJudgeError: it does not come back, or goes away again and again before anything is finished.
        """
        left, in_vain = list(tasks), 0
        while left:
            before = len(left)
            left = yield from self._until_gone(left)
            in_vain = in_vain + 1 if len(left) >= before else 0
            if in_vain == RETURNS:
                raise self._gone("goes away before anything is finished")
            if left:
                self._wait_for_return()

    def _until_gone(self, tasks: Sequence[CaseTask]) -> Generator[list[Trace], None, list[CaseTask]]:
        """The traces of each task, until all are there or the scheduler is gone; returns what is not finished.

        A task whose worker keeps dying is run again in parts, then alone when all others are done: Dask suspects
        whatever waited on a worker that died. What dies alone is lost."""
        given: dict[Future, CaseTask] = {}
        suspects: list[CaseTask] = []
        over: Queue[Future] = Queue()
        with self.client() as client:

            def give(tasks: Sequence[CaseTask]) -> None:
                for task in tasks:
                    future = client.submit(self.work, task, self.workspace, pure=False)
                    given[future] = task
                    future.add_done_callback(over.put)

            try:
                give(tasks)
                while given or suspects:
                    alone = not given
                    if alone:
                        give([suspects.pop()])
                    future = _next(over, client)
                    if future is None or future.status == "cancelled":
                        return [*given.values(), *suspects]
                    task = given[future]
                    traces = _result(future, task, alone=alone)
                    del given[future]
                    if traces is not None:
                        yield traces
                    elif len(task.parts()) == 1:
                        suspects.append(task)
                    else:
                        give(task.parts())
            except (CancelledError, OSError):  # it went away while a result was on its way
                return [*given.values(), *suspects]
            finally:
                if _connected(client):
                    client.cancel(list(given))
        return []

    def _wait_for_return(self) -> None:
        """Workers that lose their scheduler end; whoever starts it again starts them, too."""
        end = time.monotonic() + RETURN
        while time.monotonic() < end:
            with contextlib.suppress(CannotJudgeError), self.client() as client:
                if client.scheduler_info()["workers"]:
                    return
            time.sleep(1)
        raise self._gone(f"went away, and did not come back with workers within {RETURN:g} s")

    def _gone(self, how: str) -> CannotJudgeError:
        return CannotJudgeError(
            f"dask://{self.address}: the scheduler {how}; what was finished is kept: start it and its workers, and run "
            "this again"
        )


def _next(over: "Queue[Future]", client: Client) -> Future | None:
    """The next future that is over; None if nobody is there to finish one."""
    while True:
        try:
            return over.get(timeout=LOOK)
        except Empty:
            if not _connected(client):
                return None


def _result(future: Future, task: CaseTask, *, alone: bool) -> list[Trace] | None:
    """What became of a task; None if it is to be run again, in parts or alone."""
    if future.status != "error":
        return cast("list[Trace]", future.result())
    error = future.exception()
    if len(task.parts()) > 1 or (isinstance(error, KilledWorker) and not alone):
        return None
    return lost(task, _said(error))


def _connected(client: Client) -> bool:
    comm = client.scheduler_comm
    return client.status == "running" and comm is not None and not comm.closed()


def _check(address: str, stations: dict[str, Any], code: str) -> None:
    if not stations:
        raise CannotJudgeError(
            f"dask://{address}: has no workers; start some, each in a checkout: "
            f"`.venv/bin/dask worker tcp://{address} --nthreads 1`"
        )
    for worker, found in sorted(stations.items()):
        if not isinstance(found, Station):
            raise ConfigurationError(
                f"{worker}: cannot run evals ({_one_line(found)}); start it by the .venv of a checkout"
            )
        if found.code != code:
            what = "runs another version of the code than is here" if found.code else "stands in no checkout"
            raise ConfigurationError(f"{worker}: {what}; bring its checkout to this state and start it again there")
        if other := sorted(found.packages ^ installed()):
            raise ConfigurationError(f"{worker}: has other packages than are here ({other[0]}); `make setup` there")
        if found.threads != 1:
            raise ConfigurationError(f"{worker}: runs {found.threads} tasks at once; start it with --nthreads 1")


def _said(error: BaseException | None) -> str:
    if isinstance(error, KilledWorker):
        return "the worker processes it was given to died, one after the other; often the memory is used up"
    return _one_line(error)


def _one_line(error: object) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


@dataclass(frozen=True)
class Station:
    """Where a worker stands: the digest of its code (empty outside a checkout), how many tasks it runs at once, and
    which packages are installed there."""

    code: str
    threads: int
    packages: frozenset[str] = frozenset()


def station(dask_worker: Worker) -> Station:
    """Where this worker stands. Dask hands the worker to a parameter of this name."""
    code = ""
    with suppress(ConfigurationError):
        here = Workspace.at(Path.cwd())
        code = code_digest(here.root, here.pack)
    return Station(code, dask_worker.state.nthreads, installed())


def run_there(task: CaseTask, home: Workspace) -> list[Trace]:
    """On a worker: the task with the files of its own checkout, if they are the same as those at `home`."""
    here = Workspace(Path.cwd(), _moved(home.datasets, home.root))
    own = replace(
        task,
        cassette=here.cassette(task.case.id),
        datasets=here.datasets,
        cache=here.cache,
        vectors=here.vectors,
    )
    infos = [here.pack.describe(variant, here.root) for variant in task.variants]
    own = replace(own, pins=Pins.of(infos, here))
    if _digests(own, infos, here) == task.digests:
        if task.process is None:
            return _in_time(own)
        # a process of its own, since this one can import one version of a target only; it ends when its pipe closes
        current_process()._config["daemon"] = False  # type: ignore[attr-defined]  # noqa: SLF001 - Dask's workers are daemons, which may have none
        return [trace for traces in run_tasks([own], 1, run_case, lost) for trace in traces]
    has = "has another case, prompt, cassette or code"
    if not own.cassette.exists():
        has = f"has no {own.cassette.parent.name}/{own.cassette.name}, or another case, prompt or code"
    return lost(task, f"a worker's checkout {has}; bring it to this state")


def _digests(task: CaseTask, infos: Sequence[VariantInfo], here: Workspace) -> tuple[str, ...]:
    """What the trials of the task would be stored under in this worker's checkout."""
    case = here.pack.load_case(here.datasets, task.case.id)
    return tuple(trial_digest(case, info, task.sample, task.samples, here) for info in infos)


def _in_time(task: CaseTask) -> list[Trace]:
    """Run it, and give it up after its time: a thread that never comes back must not keep the whole run waiting."""
    traces: list[Trace] = []
    thread = threading.Thread(target=lambda: traces.extend(run_case(task)), daemon=True)
    thread.start()
    thread.join(START_UP + task.patience)
    if traces:
        return traces
    if len(task.variants) == 1:
        return lost(task, task.overdue)
    return [trace for part in task.parts() for trace in _in_time(part)]


def _moved(path: Path, home: Path) -> Path:
    """The same folder in this checkout; one outside any checkout is where it was."""
    return Path.cwd() / path.relative_to(home) if path.is_relative_to(home) else path
