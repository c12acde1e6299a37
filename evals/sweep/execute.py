"""All cases of a suite under all points of a grid, in as many processes as there are cores, no trial twice."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass

from evals.cassette.store import load
from evals.models.case import Case
from evals.models.run import VariantInfo
from evals.models.sweep import Point
from evals.models.trace import Trace
from evals.runner.cache import TraceCache
from evals.runner.pool import trial_digest
from evals.runner.task import CaseTask, failed
from evals.sweep.explore import Explored, explore
from evals.sweep.grid import at
from evals.workspace import Workspace


@dataclass(frozen=True)
class CaseSweep:
    """One case, the variant to vary, and the grid. Everything in it can be sent to another process."""

    case: Case
    info: VariantInfo
    points: tuple[Point, ...]
    workspace: Workspace

    def digest(self, point: Point) -> str:
        """What the trace of a point is stored under: the digest `evals run` would use for the same variant."""
        info = self.info.model_copy(update={"variant": at(self.info.variant, point)})
        return trial_digest(self.case, info, 0, 1, self.workspace)

    @property
    def cache(self) -> TraceCache:
        """Where traces of earlier runs and sweeps are."""
        return TraceCache(self.workspace.cache / "trials")


def execute(
    cases: Sequence[Case],
    info: VariantInfo,
    points: Sequence[Point],
    workspace: Workspace,
    *,
    jobs: int,
    progress: Callable[[Explored], None],
) -> list[Explored]:
    """Every case explored, in the order of `cases`. What the cache knows starts no process and loads no graph."""
    sweeps = [CaseSweep(case, info, tuple(points), workspace) for case in cases]
    found: dict[str, Explored] = {}
    for done in (from_cache(sweep) for sweep in sweeps):
        if done is not None:
            found[done.case_id] = done
            progress(done)
    for done in _run([sweep for sweep in sweeps if sweep.case.id not in found], jobs):
        found[done.case_id] = done
        progress(done)
    return [found[case.id] for case in cases]


def from_cache(sweep: CaseSweep) -> Explored | None:
    """The case explored from stored traces alone; None if one is missing."""
    return explore(sweep.case, sweep.points, lambda point: sweep.cache.get(sweep.digest(point)))


def run_case(sweep: CaseSweep) -> Explored:
    """The case explored, trials run where the cache has none. What breaks comes back as a failed trace for all."""
    place = sweep.workspace
    task = CaseTask(
        case=sweep.case,
        variants=(sweep.info.variant,),
        sample=0,
        cassette=place.cassette(sweep.case.id),
        datasets=place.datasets,
        cache=place.cache,
        vectors=place.vectors,
    )
    try:
        return _explored(sweep, task)
    except Exception as error:  # noqa: BLE001 - whatever it was, it is a failed trial that the coverage counts
        return Explored(sweep.case.id, (failed(task, sweep.info.variant, error),), (0,) * len(sweep.points))


def _explored(sweep: CaseSweep, task: CaseTask) -> Explored:
    cassette = load(task.cassette)
    from evals.sweep.stage import stage  # noqa: PLC0415 - loads LangGraph and Chroma: workers only

    with stage(task, cassette) as trace_of:

        def run(point: Point) -> Trace:
            digest = sweep.digest(point)
            trace = sweep.cache.get(digest) or trace_of(at(sweep.info.variant, point))
            sweep.cache.put(digest, trace)
            return trace

        done = explore(sweep.case, sweep.points, run)
    if done is None:  # `run` always has a trace
        raise AssertionError("a trial gave no trace")
    return done


def _run(sweeps: Sequence[CaseSweep], jobs: int) -> Iterator[Explored]:
    if jobs == 1 or len(sweeps) < 2:
        yield from map(run_case, sweeps)
        return
    context = multiprocessing.get_context("spawn")  # forked children would inherit threads of native libraries
    with ProcessPoolExecutor(min(jobs, len(sweeps)), mp_context=context) as pool:
        futures = {pool.submit(run_case, sweep): sweep for sweep in sweeps}
        try:
            for future in as_completed(futures):
                yield future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
