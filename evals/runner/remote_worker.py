"""A worker on another machine, in its own checkout."""

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing import current_process
from pathlib import Path

from distributed import Worker

from evals.errors import ConfigurationError
from evals.import_time import START_UP
from evals.installed_packages import installed
from evals.models.run import VariantInfo
from evals.models.trace import Trace
from evals.runner.case_task import CaseTask, lost, run_case
from evals.runner.dependencies import code_digest
from evals.runner.pinned_inputs import Pins
from evals.runner.trials import trial_digest
from evals.runner.worker_pool import run_tasks
from evals.workspace import Workspace


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
