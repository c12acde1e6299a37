"""All cases of a suite under all points of a grid, in as many processes as there are cores, no trial twice."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from evals.models.case import Case
from evals.models.run import VariantInfo
from evals.models.sweep import Point
from evals.models.trace import Trace
from evals.runner.case import cassette_of, read_ahead
from evals.runner.digests import digest_of_replaced
from evals.runner.keeper import Keeper, note
from evals.runner.pins import Pins
from evals.runner.pool import trial_digest
from evals.runner.task import TRIAL_TIMEOUT, CaseTask, failed
from evals.runner.workers import run_tasks
from evals.subject.prompt import SupervisorPrompt, prompt_of
from evals.sweep.explore import Explored, explore, joined
from evals.sweep.grid import at
from evals.workspace import Workspace


@dataclass(frozen=True)
class CaseSweep:
    """One case, the variant to vary, and the grid. Everything in it can be sent to another process.

    `recorded`, `prompt` and `pins` are as in `CaseTask`.
    """

    case: Case
    info: VariantInfo
    points: tuple[Point, ...]
    workspace: Workspace
    recorded: str = ""
    prompt: SupervisorPrompt | None = None
    pins: Pins | None = None

    @property
    def patience(self) -> float:
        """Seconds it may take: those of a trial, at every point."""
        return TRIAL_TIMEOUT * len(self.points)

    @property
    def overdue(self) -> str:
        """What is said of a point that took too long."""
        return f"the trial did not end within {TRIAL_TIMEOUT:g} s"

    def parts(self) -> list["CaseSweep"]:
        """The first and the second half of the points. What a lost worker had finished is in the cache."""
        half = len(self.points) // 2
        halves = [replace(self, points=points) for points in (self.points[:half], self.points[half:]) if points]
        return halves if half else [self]

    @property
    def task(self) -> CaseTask:
        """What a single trial of it needs."""
        place = self.workspace
        return CaseTask(
            case=self.case,
            variants=(self.info.variant,),
            sample=0,
            cassette=place.cassette(self.case.id),
            datasets=place.datasets,
            cache=place.cache,
            vectors=place.vectors,
            prompts=(self.prompt,),
            recorded=self.recorded,
            pins=self.pins,
        )

    def digest(self, point: Point) -> str:
        """What the trace of a point is stored under: the digest `evals run` would use for the same variant."""
        info = self.info.model_copy(update={"variant": at(self.info.variant, point)})
        return trial_digest(self.case, info, 0, 1, self.workspace, self.recorded)


def execute(
    cases: Sequence[Case],
    info: VariantInfo,
    points: Sequence[Point],
    workspace: Workspace,
    *,
    jobs: int,
    progress: Callable[[Explored], None],
    work: Callable[[CaseSweep], Explored] | None = None,
) -> list[Explored]:
    """Every case explored, in the order of `cases`. What the cache knows starts no process and loads no graph.

    `work` explores one case, in a worker unless `jobs` is 1: `run_case` if not given.
    """
    pins, prompt = Pins.of([info], workspace), prompt_of(info)
    sweeps = [
        CaseSweep(case, info, tuple(points), workspace, digest_of_replaced(workspace.cassette(case.id)), prompt, pins)
        for case in cases
    ]
    found: dict[str, Explored] = {}
    keeper = Keeper(workspace.cache)
    for done in (from_cache(sweep, keeper) for sweep in sweeps):
        if done is not None:
            found[done.case_id] = done
            progress(done)
    left = [sweep for sweep in sweeps if sweep.case.id not in found]
    if jobs > 1:
        read_ahead(sweep.task for sweep in left)
    for done in _whole(_run(left, jobs, work or run_case), points):
        found[done.case_id] = done
        progress(done)
    return [found[case.id] for case in cases]


def from_cache(sweep: CaseSweep, keeper: Keeper) -> Explored | None:
    """The case explored from stored traces alone; None if one is missing."""
    return explore(sweep.case, sweep.points, lambda point: keeper.get(sweep.digest(point)))


def run_case(sweep: CaseSweep) -> Explored:
    """The case explored, trials run where the cache has none. What breaks comes back as a failed trace for all."""
    try:
        return _explored(sweep)
    except Exception as error:  # noqa: BLE001 - whatever it was, it is a failed trial that the coverage counts
        return _failed(sweep, error)


def lost(sweep: CaseSweep, why: str) -> Explored:
    """A point that no worker came back from: a failed trial of its own."""
    return _failed(sweep, why)


def _failed(sweep: CaseSweep, why: Exception | str) -> Explored:
    """All points of the sweep, as one failed trial."""
    trace = failed(sweep.task, sweep.info.variant, why)
    return Explored(sweep.case.id, sweep.points, (trace,), (0,) * len(sweep.points))


def _explored(sweep: CaseSweep) -> Explored:
    cassette = cassette_of(sweep.task)
    from evals.sweep.stage import stage  # noqa: PLC0415 - loads LangGraph and Chroma: workers only

    keeper = Keeper(sweep.workspace.cache)
    with closing(keeper), stage(sweep.task, cassette) as trace_of:

        def run(point: Point) -> Trace:
            digest = sweep.digest(point)
            trace = keeper.get(digest)
            if trace is None:
                trace = trace_of(at(sweep.info.variant, point))
                if sweep.pins is not None:
                    sweep.pins.check()
                note(sweep.workspace.cache)
                keeper.put(digest, trace)
            return trace

        done = explore(sweep.case, sweep.points, run)
    if done is None:  # `run` always has a trace
        raise AssertionError("a trial gave no trace")
    return done


def _run(sweeps: Sequence[CaseSweep], jobs: int, work: Callable[[CaseSweep], Explored]) -> Iterator[Explored]:
    return map(work, sweeps) if jobs == 1 else run_tasks(sweeps, jobs, work, lost)


def _whole(found: Iterator[Explored], points: Sequence[Point]) -> Iterator[Explored]:
    """The cases as soon as all their points are there; one that was divided comes in parts."""
    parts: dict[str, list[Explored]] = defaultdict(list)
    for done in found:
        mine = parts[done.case_id]
        mine.append(done)
        if sum(len(part.points) for part in mine) == len(points):
            yield joined(parts.pop(done.case_id), points)
