"""The same tasks on a Dask cluster, whose workers each stand in a checkout of their own.

A worker reads recordings, cases and prompts from its own folders, so nothing large travels. That they are the same
as here is not assumed: it makes the digest of every trial anew, and runs none whose digest is another. Traces come
back, and are stored, scored and judged here.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from distributed import Client, Future, KilledWorker, Worker, as_completed

from evals.dataset.layout import Layout
from evals.dataset.load import load_case
from evals.dataset.policy import load_policy
from evals.errors import CannotJudgeError, ConfigurationError
from evals.models.trace import Trace
from evals.runner.case import run_case
from evals.runner.digests import code_digest
from evals.runner.pool import trial_digest
from evals.runner.task import CaseTask, lost
from evals.runner.workers import START_UP
from evals.subject.prompt import describe
from evals.workspace import Workspace

CONNECT: Final = 10.0
"""Seconds a scheduler may take to answer."""

LOCK: Final = "requirements.lock"


@dataclass(frozen=True)
class Station:
    """Where a worker stands: the digest of its code (empty outside a checkout), and how many tasks it runs at once."""

    code: str
    threads: int


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
        _check(address, there, code_digest(workspace.root / LOCK))
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
        """The traces of each task, as they finish. One whose worker keeps dying is run again in parts, then alone when
        all others are done: Dask suspects whatever waited on a worker that died. What dies alone is lost."""
        if not tasks:
            return
        with self.client() as client:
            given = {self._submit(client, task): task for task in tasks}
            finishing = as_completed(given, loop=client.loop)
            suspects: list[CaseTask] = []
            try:
                for future in finishing:
                    task = given.pop(future)
                    if future.status != "error":
                        yield future.result()
                    elif len(task.parts()) > 1:
                        again = {self._submit(client, part): part for part in task.parts()}
                        given |= again
                        finishing.update(again)
                    elif isinstance(future.exception(), KilledWorker):
                        suspects.append(task)
                    else:
                        yield lost(task, _said(future.exception()))
                for task in suspects:
                    alone = self._submit(client, task)
                    given[alone] = task
                    error = alone.exception()
                    yield alone.result() if error is None else lost(task, _said(error))
            finally:
                client.cancel(list(given))

    def _submit(self, client: Client, task: CaseTask) -> Future:
        return client.submit(self.work, task, self.workspace, pure=False)


def station(dask_worker: Worker) -> Station:
    """Where this worker stands. Dask hands the worker to a parameter of this name."""
    here = Path.cwd()
    code = code_digest(here / LOCK) if (here / "datasets").is_dir() else ""
    return Station(code, dask_worker.state.nthreads)


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
    if _digests(own, here) != task.digests:
        return lost(task, "a worker's checkout has another case, prompt, cassette or code; bring it to this state")
    return _in_time(own)


def _digests(task: CaseTask, here: Workspace) -> tuple[str, ...]:
    """What the trials of the task would be stored under in this worker's checkout."""
    case = load_case(here.datasets, task.case.id, load_policy(Layout(here.datasets).policy))
    return tuple(
        trial_digest(case, describe(variant, here.root), task.sample, task.samples, here) for variant in task.variants
    )


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
        if found.threads != 1:
            raise ConfigurationError(f"{worker}: runs {found.threads} tasks at once; start it with --nthreads 1")


def _said(error: BaseException | None) -> str:
    if isinstance(error, KilledWorker):
        return "the worker processes it was given to died, one after the other; often the memory is used up"
    return _one_line(error)


def _one_line(error: object) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]
