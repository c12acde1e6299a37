"""Run a sweep: cases under every point of a grid."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from pydantic import ValidationError

from evals.cassettes.cassette_data import Cassette
from evals.errors import ConfigurationError
from evals.models.case import Case, DecisionPoint
from evals.models.run import VariantInfo
from evals.models.run_request import TRIAL_TIMEOUT
from evals.models.suite import Variant
from evals.models.trace import Decision, PointAnswer, Trace
from evals.runner.case_task import CaseTask, cassette_of, failed, read_ahead
from evals.runner.trial_cache import Keeper, Pins, digest_of_replaced, note
from evals.runner.trials import trial_digest
from evals.runner.worker_pool import run_tasks
from evals.triage.dataset.case_code import materialise
from evals.triage.graph_trial import CaseTarget, trees_for
from evals.triage.recorded_graph import indexed, prepared, within_time
from evals.triage.sweep.sweep_result import GridPoint
from evals.triage.trial_clients import replay_clients, runner
from evals.triage.variant_prompts import prompt_of
from evals.triage.variant_settings import ConfidenceFloorSetting, settings_of
from evals.workspace import Workspace
from triage.guards.guard_sets import SETS
from triage.guards.guards import Guard, confidence_floor
from triage.prompts.load import SupervisorPrompt
from triage.state import AgentFinding, BugTriageState, TriageReport
from triage.state import ConfidenceFloor as Thresholds


@contextmanager
def stage(task: CaseTask, cassette: Cassette) -> Iterator[Callable[[Variant], Trace]]:
    """A function that replays a variant on the case of `task`."""
    tree = materialise(task.case, task.datasets, task.cache)
    repository = indexed(tree, task.vectors, trees_for(task.case, task.cache), task.distances)
    clients = replay_clients()
    prompt = next(
        (prompt for _, prompt in prepared(task)), None
    )  # each variant reads its own where none is handed over

    def trace_of(variant: Variant) -> Trace:
        return loop.run(within_time(task, variant, CaseTarget.of(variant, clients, repository, prompt), cassette))

    with runner() as loop:
        try:
            yield trace_of
        finally:
            loop.run(clients.close())


@dataclass(frozen=True)
class Explored:
    """The distinct traces of one case; `which` holds, per point, the index of its trace."""

    case_id: str
    points: tuple[GridPoint, ...]
    traces: tuple[Trace, ...]
    which: tuple[int, ...]


def explore(case: Case, points: Sequence[GridPoint], run: Callable[[GridPoint], Trace | None]) -> Explored | None:
    """Run the first open point, hand its trace to every point whose floor rules alike along it, and go on.

    Returns None as soon as `run` has no trace to give (a cache that is asked before anything is started).
    """
    traces: list[Trace] = []
    which: dict[int, int] = {}
    for number, point in enumerate(points):
        if number in which:
            continue
        trace = run(point)
        if trace is None:
            return None
        for other in _alike(case, trace, points, number):
            which.setdefault(other, len(traces))
        traces.append(trace)
    return Explored(case.id, tuple(points), tuple(traces), tuple(which[number] for number in range(len(points))))


def joined(parts: Sequence[Explored], points: Sequence[GridPoint]) -> Explored:
    """The points of one case that were explored apart, in the order of `points`; a trace that two parts have is one.

    Two traces are the same when nothing but the name of the setting differs. A failed one stands for itself alone.
    """
    if len(parts) == 1:
        return parts[0]
    found = {point: part.traces[index] for part in parts for point, index in zip(part.points, part.which, strict=True)}
    distinct: dict[str, int] = {}
    which = tuple(distinct.setdefault(_content(point, found[point]), len(distinct)) for point in points)
    traces = tuple(found[points[which.index(number)]] for number in range(len(distinct)))
    return Explored(parts[0].case_id, tuple(points), traces, which)


def _content(point: GridPoint, trace: Trace) -> str:
    own = point.name if trace.provenance.label == "failed" else ""
    return trace.model_copy(update={"variant": own}).model_dump_json()


def _alike(case: Case, trace: Trace, points: Sequence[GridPoint], number: int) -> list[int]:
    """The points that give this trace as well: same guard set, and a floor with the same rulings in its every state."""
    states = asked(case, trace) if trace.provenance.label != "failed" else None
    if states is None:
        return [number]
    ours = rulings(states, points[number].floor)
    return [
        other
        for other, point in enumerate(points)
        if point.guards == points[number].guards and rulings(states, point.floor) == ours
    ]


MOST: Final = 2000
"""Points beyond which a grid is taken for a slip of the pen."""


def numbers(text: str, option: str) -> tuple[float, ...]:
    """`0.5:0.95:0.05` (from, to and including, by), `0.7,0.8` or `0.85`, ascending and without repeats.

    Raises:
        ConfigurationError: anything else.
    """
    try:
        values = [value for part in text.split(",") for value in _range([Decimal(word) for word in part.split(":")])]
    except (InvalidOperation, ValueError) as error:
        raise ConfigurationError(f"{option} {text!r}: write FROM:TO:STEP, or numbers with commas between") from error
    return tuple(sorted({float(value) for value in values}))


def _range(parts: Sequence[Decimal]) -> list[Decimal]:
    if len(parts) == 1:
        return [*parts]
    start, stop, step = parts
    if not start.is_finite() or not stop.is_finite() or not step > 0 or stop < start or (stop - start) / step > MOST:
        raise ValueError("no such range")
    return [start + step * n for n in range(int((stop - start) / step) + 1)]


def grid(
    present: GridPoint,
    singles: Sequence[float],
    corroborated: Sequence[float],
    findings: Sequence[float],
    guards: list[str],
) -> tuple[GridPoint, ...]:
    """The present setting, then every guard set without a floor and with every floor.

    A `corroborated` above `single` never speaks, so it is the same setting as one equal to it and is left out.

    Raises:
        ConfigurationError: a threshold is no fraction, or the grid is absurdly large.
    """
    if len(singles) * len(corroborated) * len(findings) * len(guards) > MOST:
        raise ConfigurationError(f"more than {MOST} points; take larger steps")
    try:
        floors = [
            ConfidenceFloorSetting(single=single, corroborated=min(single, other), min_findings=int(count))
            for single in singles
            for other in corroborated
            for count in findings
        ]
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigurationError(f"confidence floor, {first['loc'][0]}: {first['msg']}") from error
    points = (GridPoint(guards=name, floor=floor) for name in guards for floor in (None, *floors))
    return tuple(dict.fromkeys((present, *points)))


def point_of(variant: Variant) -> GridPoint:
    """Where a variant stands now."""
    settings = settings_of(variant)
    return GridPoint(guards=settings.guards, floor=settings.confidence_floor)


def at(variant: Variant, point: GridPoint) -> Variant:
    """The variant with the setting of `point`, named after both."""
    changed = {"guards": point.guards, "confidence_floor": point.floor, "name": f"{variant.name} {point.name}"}
    return variant.model_copy(update=changed)


@dataclass(frozen=True)
class CaseSweep:
    """One case, the variant to vary, and the grid. Everything in it can be sent to another process.

    `recorded`, `prompt` and `pins` are as in `CaseTask`.
    """

    case: Case
    info: VariantInfo
    points: tuple[GridPoint, ...]
    workspace: Workspace
    recorded: str = ""
    prompt: SupervisorPrompt | None = None
    pins: Pins | None = None

    @property
    def process(self) -> None:
        """Any worker may do it."""

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

    def digest(self, point: GridPoint) -> str:
        """What the trace of a point is stored under: the digest `evals run` would use for the same variant."""
        info = self.info.model_copy(update={"variant": at(self.info.variant, point)})
        return trial_digest(self.case, info, 0, 1, self.workspace, self.recorded)


def execute(
    cases: Sequence[Case],
    info: VariantInfo,
    points: Sequence[GridPoint],
    workspace: Workspace,
    *,
    jobs: int,
    progress: Callable[[Explored], None],
    work: Callable[[CaseSweep], Explored] | None = None,
) -> list[Explored]:
    """Every case explored, in the order of `cases`. What the cache knows starts no process and loads no graph.

    `work` explores one case, in a worker unless `jobs` is 1: `run_case` if not given.
    """
    pins, prompt = Pins.of([info], workspace), prompt_of(info, workspace.root)
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
    from evals.triage.sweep.sweep_run import stage  # noqa: PLC0415 - loads LangGraph and Chroma: workers only

    keeper = Keeper(sweep.workspace.cache)
    with closing(keeper), stage(sweep.task, cassette) as trace_of:

        def run(point: GridPoint) -> Trace:
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


def _whole(found: Iterator[Explored], points: Sequence[GridPoint]) -> Iterator[Explored]:
    """The cases as soon as all their points are there; one that was divided comes in parts."""
    parts: dict[str, list[Explored]] = defaultdict(list)
    for done in found:
        mine = parts[done.case_id]
        mine.append(done)
        if sum(len(part.points) for part in mine) == len(points):
            yield joined(parts.pop(done.case_id), points)


GUARD_SETS: Final = tuple(SETS)
Rulings = tuple[str | None, ...]
Asked = tuple[tuple[BugTriageState, Any], ...]

_A_REPORT: Final = TriageReport(
    root_cause="",
    root_cause_location=None,
    category="code",
    severity="LOW",
    affected_files=(),
    evidence=(),
    next_steps=(),
    confidence=0,
)


def asked(case: Case, trace: Trace) -> Asked | None:
    """The states the guards saw, each with the supervisor's choice, as far as a floor can tell them apart; the frozen
    decision points come last. None where they cannot be rebuilt: tasks of a plan are visited side by side."""
    if trace.plan is not None or any(decision.tasks for decision in trace.decisions):
        return None
    frozen = {point.id: point for point in case.labels.decision_points}
    return (
        *((_state(trace, decision), decision.chosen) for decision in trace.decisions),
        *((_frozen(case, frozen[answer.point], answer), answer.chosen) for answer in trace.points if answer.chosen),
    )


def rulings(states: Asked, floor: ConfidenceFloorSetting | None) -> Rulings:
    """Where the floor would send each choice; None where it lets it pass, everywhere if there is no floor."""
    if floor is None:
        return (None,) * len(states)
    guard: Guard = confidence_floor(Thresholds(**floor.model_dump()))
    vetoes = [guard(state, choice) for state, choice in states]
    return tuple(veto.send_to if veto else None for veto in vetoes)


def _state(trace: Trace, decision: Decision) -> BugTriageState:
    """The state at a decision, in the fields the floor reads."""
    before = trace.visits[: decision.iteration]
    written = any(visit.node == "writer" and visit.error is None for visit in before)
    return BugTriageState(
        issue_title="",
        issue_body="",
        iterations=decision.iteration,
        visits=[visit.node for visit in before],
        findings=[AgentFinding.model_validate(found.model_dump()) for visit in before for found in visit.findings],
        supervisor_confidence=decision.confidence,
        forced_fallback=decision.forced_fallback,
    ).model_copy(update={"report": _A_REPORT if written else None})


def _frozen(case: Case, point: DecisionPoint, answer: PointAnswer) -> BugTriageState:
    told = {"issue_title": case.title, "issue_body": case.body, **point.state}
    return BugTriageState.model_validate({**told, "supervisor_confidence": answer.confidence or 0.0})
