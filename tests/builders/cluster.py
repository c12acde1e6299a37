"""A real Dask cluster on loopback: a scheduler and workers, each a process of its own, forked off a server that has
imported what they need: `dask scheduler` and `dask worker` but for the seconds that takes."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import set_forkserver_preload
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from evals.models.trace import Trace
from evals.runner.case_task import CaseTask
from evals.workspace import Workspace
from tests.builders.checkout import REPOSITORY
from tests.builders.forked import begin
from tests.builders.workers import act

PATIENCE = 240.0
NEEDED: Final = ("distributed", "evals.runner.dask_cluster", __name__, "tests.builders.settled")
"""By a worker; its nanny forks it off a server that has imported them, and may have to do so again and again."""
GRAPH: Final = "evals.triage.recorded_graph"
"""What such a server imports besides where workers run real trials."""


@contextmanager
def a_cluster(
    checkout: Path, folder: Path, workers: int = 2, threads: int = 1, needed: tuple[str, ...] = (GRAPH, *NEEDED)
) -> Iterator[str]:
    """The address, as `--scheduler` takes it, of a cluster whose workers stand in `checkout`."""
    with a_scheduler(folder) as address, some_workers(checkout, folder, address, workers, threads, needed):
        yield address


@contextmanager
def a_scheduler(folder: Path, port: int = 0) -> Iterator[str]:
    """Its address; nobody works for it yet. Port 0 is any free one."""
    contact = folder / "scheduler.json"
    contact.unlink(missing_ok=True)
    named = ("--host", "127.0.0.1", "--port", str(port), "--scheduler-file", str(contact), "--no-dashboard")
    process = _process(folder, "scheduler", *named)
    try:
        yield _address(contact).replace("tcp://", "dask://")
    finally:
        _end(process)


@contextmanager
def some_workers(
    checkout: Path,
    folder: Path,
    address: str,
    workers: int = 1,
    threads: int = 1,
    needed: tuple[str, ...] = NEEDED,
    *,
    nanny: bool = True,
) -> Iterator[None]:
    """So many more, which are there when the block begins; without a `nanny` to replace one that dies, a single one is
    there in half the time."""
    tcp = address.replace("dask://", "tcp://")
    before = len(worker_pids(address))
    process = _process(
        checkout,
        *("worker", tcp, "--host", "127.0.0.1", "--nworkers", str(workers), "--nthreads", str(threads)),
        *("--no-dashboard", "--local-directory", str(folder), "--nanny" if nanny else "--no-nanny"),
        needed=needed,
    )
    try:
        _wait_for(tcp, before + workers)
        yield
    finally:
        _end(process)


def act_there(task: CaseTask, home: Workspace) -> list[Trace]:
    """On a worker: what the variants' names say."""
    return act(task)


def wait_there(task: CaseTask, home: Workspace) -> list[Trace]:
    """On a worker: waits for the file `go` of the checkout, if the variant is called so; says which process it was."""
    while task.variants[0].name.startswith("wait") and not (home.root / "go").exists():
        time.sleep(0.05)
    return [trace.model_copy(update={"topology": str(os.getpid())}) for trace in act(task)]


def worker_pids(address: str) -> list[int]:
    """The processes that run tasks."""
    from distributed import Client

    with Client(address.replace("dask://", "tcp://"), set_as_default=False) as client:
        return list(client.run(os.getpid).values())


def _process(folder: Path, *words: str, needed: tuple[str, ...] = ()) -> BaseProcess:
    return begin(_dask, folder, words, needed)


def _dask(folder: Path, words: tuple[str, ...], needed: tuple[str, ...]) -> None:
    """`dask WORDS` in the folder, with nothing of this machine in its environment; what it says is for nobody."""
    os.chdir(folder)
    for name in os.environ.keys() - {"PATH"}:
        del os.environ[name]
    os.environ["PYTHONPATH"] = str(REPOSITORY)
    nobody = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nobody, 1)
    os.dup2(nobody, 2)
    import dask
    from distributed import utils
    from distributed.cli import dask_scheduler, dask_worker

    dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    set_forkserver_preload([*needed])
    utils._forkserver_preload_set = True
    {"scheduler": dask_scheduler, "worker": dask_worker}[words[0]].main([*words[1:]])


def _address(contact: Path) -> str:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            return str(json.loads(contact.read_text())["address"])
        except (OSError, ValueError):  # not there yet, or half written
            time.sleep(0.05)
    raise TimeoutError("no scheduler came up")


def _wait_for(address: str, workers: int) -> None:
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(workers, timeout=PATIENCE)


def _end(process: BaseProcess) -> None:
    """Asked to go, and after three seconds made to: a worker would wait for a task that waits for a test."""
    process.terminate()
    process.join(3)
    if process.is_alive():
        process.kill()
        process.join()
