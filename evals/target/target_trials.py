"""Trials of a target: its graph loaded once per process, run on one case, and the trace of what it did."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from multiprocessing import parent_process
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evals.cassettes.calls_and_misses import Ledger, calls_of, misses_of
from evals.errors import ConfigurationError, RecordingStoppedError, nearest_name
from evals.import_limits import connected, importing
from evals.models.trace import Decision, Exchange, PointAnswer, Provenance, Trace, Visit
from evals.project import FILE
from evals.target.cases import FrozenPoint
from evals.target.frozen_decision_points import choice, chosen_by
from evals.target.recording_process import LONGEST, TrialProcess
from evals.target.target_settings import TABLE, TargetSettings
from evals.target.variant_checkout import VariantFiles

if TYPE_CHECKING:
    import httpx2

    from evals.cassettes.player import Tape
    from evals.models.case import Case
    from evals.models.suite import Variant
    from evals.target.drive import Driver, TargetRun
    from evals.target.http_capture import Hosts, Recording, TargetTrial
    from evals.workspace import Workspace

_LOG: Final = 1_000_000  # bytes of output that are added to
_ENDED_BADLY: Final = ("failed", "timeout", "unanswered")


class TargetClients:
    """Where the requests of a target's trials go: into the cassette, or through a recorder. `judge` carries those of a
    judge; None: the cassette."""

    def __init__(self, recording: "Recording | None" = None, judge: "httpx2.AsyncBaseTransport | None" = None) -> None:
        self.recording, self.judge = recording, judge

    async def close(self) -> None:
        """End the thread of a recorder."""
        if self.recording is not None:
            self.recording.thread.end()


class TargetCase:
    """Trials of one case, each in the process of its variant."""

    def __init__(self, case: "Case", trials: "TargetTrials") -> None:
        self._case, self._trials = case, trials

    async def run(
        self, variant: "Variant", tape: "Tape", clients: TargetClients, halted: Callable[[], bool] = lambda: False
    ) -> Trace:
        """See `evals.application_pack.CaseRunner`. A target stops by itself at its first miss or failed request."""
        del halted
        recorder = clients.recording.recorder if clients.recording is not None else None
        try:
            live = recorder is not None and recorder.answerer is None
            if live:
                self._trials.check_variables()
            process, files = self._trials.process_of(variant, live=live)
            return await process.run(self._case, variant, files, tape, clients.recording)
        except RecordingStoppedError as error:
            if recorder is not None:
                recorder.stop.set(error)
            raise


class TargetTrials:
    """Trials of a workspace, in processes of their own: a target that ends its process, or changes what belongs to it,
    leaves whoever records alone."""

    def __init__(self, workspace: "Workspace") -> None:
        self._root = workspace.root
        self._processes: dict[tuple[str, bool], TrialProcess] = {}
        self._variables: dict[str, str] | None = None

    def process_of(self, variant: "Variant", *, live: bool) -> tuple[TrialProcess, VariantFiles]:
        """The process of a variant's files, another one where the last has ended; proofs have one of their own, since
        variables differ. Raises ConfigurationError."""
        files = VariantFiles.of(variant, self._root).checked_out()
        key = files.process, live
        known = self._processes.get(key)
        if known is None or known.ended:
            known = self._processes[key] = TrialProcess()
        return known, files

    def open(self, case: "Case") -> TargetCase:
        """See `evals.application_pack.TrialRunner`."""
        return TargetCase(case, self)

    def close(self, case: "Case") -> None:
        """Nothing is kept."""

    def check_variables(self) -> None:
        """Before the endpoint is asked. Raises RecordingStoppedError if variables that lead to it are not those of what
        is recorded."""
        from evals.target.langgraph_json import read_langgraph_json  # noqa: PLC0415 - loads LangGraph
        from evals.target.target_settings import refuse_others, variables_in  # noqa: PLC0415

        if self._variables is None:
            file = read_langgraph_json(TargetSettings.of(self._root).at(self._root))
            variables = variables_in({**file.environment, **os.environ})
            refuse_others(self._root, variables)
            self._variables = variables

    def save(self) -> None:
        """Keep the variables that lead to the endpoint, if it was asked."""
        from evals.target.target_settings import keep_variables  # noqa: PLC0415

        if self._variables is not None:
            keep_variables(self._root, self._variables)


@dataclass(frozen=True)
class LoadedTarget:
    """The graph of a project, its modules imported; `variables` are those of the process that the import has set."""

    graph: Any
    settings: TargetSettings
    driver: "Driver"
    variables: dict[str, str]
    store_index: dict[str, Any] | None = None

    async def trace(
        self,
        case: "Case",
        variant: "Variant",
        files: VariantFiles,
        tape: "Tape",
        recording: "Recording | None" = None,
        *,
        seconds: float = LONGEST,
    ) -> Trace:
        """Run one trial, which fails after so many seconds; then ask the routers in the case's decision points."""
        from evals.target.drive import TargetRun  # noqa: PLC0415 - loads LangGraph

        trial = self.trial(tape, recording)
        run = TargetRun(ended="finished")
        if not case.only_points:
            run = await self.run(case, variant, files, trial, seconds=seconds)
        trace = _trace(case, variant, tape, trial, run, files)
        if trace.provenance.label == "failed" or not case.labels.frozen or variant.forced:
            return trace
        answers: list[PointAnswer] = []
        missed, live = Ledger(), {*trace.live}
        for point in case.labels.frozen:
            # each has a ledger of its own, and goes on with the trial's turns of repeats
            ledger = Ledger(failures=tape.ledger.failures)
            trial = self.trial(replace(tape, ledger=ledger), recording)
            run = await self.run(case, variant, files, trial, point, seconds=seconds)
            live |= trial.live
            if run.ended in _ENDED_BADLY or trial.refused:
                error = _below_root(f"decision point {point.id}: {run.error}", files)
                return trace.model_copy(update={"provenance": Provenance(label="failed"), "error": error})
            chosen = chosen_by(run, point) if run.ended != "missed" else None
            keys = tuple(sorted(found.key for found in ledger.served))
            models = tuple(sorted({found.model for found in ledger.served}))
            answers.append(PointAnswer(point=point.id, chosen=chosen, routed=chosen, keys=keys, models=models))
            tape.ledger.served.extend(ledger.served)
            missed.misses.extend(ledger.misses)
        misses = misses_of(missed, tape.cassette, 0)
        told = {"points": tuple(answers), "point_misses": misses, "live": tuple(sorted(live))}
        return trace.model_copy(update=told)

    def trial(self, tape: "Tape", recording: "Recording | None" = None) -> "TargetTrial":
        """What one run may use."""
        from evals.target.http_capture import TargetTrial  # noqa: PLC0415 - loads LangGraph

        return TargetTrial(tape, recording, _hosts(self.settings), frozenset(self.settings.tools))

    async def run(
        self,
        case: "Case",
        variant: "Variant",
        files: VariantFiles,
        trial: "TargetTrial",
        point: FrozenPoint | None = None,
        *,
        seconds: float = LONGEST,
        keeps_states: bool = False,
    ) -> "TargetRun":
        """Run the graph on a case, or only the router of a decision point in its state."""
        from evals.target.drive import TargetCall  # noqa: PLC0415 - loads LangGraph

        settings = self.settings
        config = {**variant.config, **files.config}
        call = TargetCall(
            graph=self.graph,
            inputs=dict(case.inputs if point is None else point.state),
            configurable=config,
            context=config if settings.context else None,
            answers=case.labels.answers,
            routers=frozenset(settings.routers),
            output=(lambda state: {name: state[name] for name in settings.output if name in state})
            if settings.output and point is None
            else None,
            timeout=seconds,
            recursion_limit=settings.recursion_limit,
            interrupt_limit=settings.interrupt_limit,
            synchronous=settings.synchronous,
            seed=f"{case.id} {trial.tape.sample}",
            alone=() if point is None else (*point.path, point.node),
            keeps_states=keeps_states,
            forced=variant.forced,
            store_index=self.store_index,
        )
        run = await self.driver.run(call, trial)
        if run.printed and parent_process() is not None:
            os.write(1, run.printed.encode())  # see `_write_output_to`
        return _with_output(run, settings.output) if point is None else run


def _with_output(run: "TargetRun", wanted: tuple[str, ...]) -> "TargetRun":
    """The run with the names of the members that are its output; failed where the graph's state has no such member."""
    known = run.names.members
    if not (wanted and known):
        return run
    unknown = [name for name in wanted if name not in known]
    names = run.names.model_copy(update={"members": tuple(name for name in wanted if name in known)})
    if not unknown:
        return run.model_copy(update={"names": names})
    hint = nearest_name(unknown[0], known) or f"; it has {', '.join(known)}"
    error = f"{FILE}: [{TABLE}] output: the graph's state has no {unknown[0]!r}{hint}"
    return run.model_copy(update={"names": names, "ended": "failed", "error": error})


def _trace(
    case: "Case", variant: "Variant", tape: "Tape", trial: "TargetTrial", run: "TargetRun", files: VariantFiles
) -> Trace:
    decisions = tuple(
        Decision(
            index=index,
            iteration=made.step,
            chosen=choice(made.chosen),
            routed=choice(made.chosen),
        )
        for index, made in enumerate(run.decisions)
    )
    return Trace(
        case_id=case.id,
        variant=variant.name,
        sample=tape.sample,
        provenance=_provenance(run, trial, len(decisions)),
        visits=tuple(_visits(run, files)),
        decisions=decisions,
        exchanges=tuple(
            Exchange(question=_words(each.payload), context="", answer=_words(each.answer), topic=None)
            for each in run.interrupts
        ),
        calls=calls_of(tape.ledger),
        misses=misses_of(tape.ledger, tape.cassette, len(decisions)),
        output=dict(run.output),
        names=run.names,
        live=tuple(sorted(connected | trial.live)),
        error=_below_root(run.error, files) if run.ended in _ENDED_BADLY or trial.refused else None,
    )


def _provenance(run: "TargetRun", trial: "TargetTrial", decisions: int) -> Provenance:
    if trial.refused or run.ended in _ENDED_BADLY:
        return Provenance(label="failed")
    if run.ended != "missed":
        return Provenance(label="exact")
    return Provenance(label="frontier", frontier=decisions) if decisions else Provenance(label="unrecorded")


def _visits(run: "TargetRun", files: VariantFiles) -> Iterator[Visit]:
    """The steps; those that ran side by side have one number."""
    number, last = -1, None
    for step in run.steps:
        place = (step.kind, step.path, step.superstep)
        number += place != last or step.kind != "node"
        last = place
        arguments = step.arguments if step.kind != "node" else None
        told_by_miss = run.ended == "missed" and "not recorded" in (step.error or "")
        error = None if told_by_miss else _below_root(step.error, files)
        ran, fields = step.kind == "tool" and not step.recorded, {"agent": step.agent, "below": step.below}
        yield Visit(node=step.name, superstep=number, error=error, arguments=arguments, ran=ran, **fields)


def _below_root(text: str | None, files: VariantFiles) -> str | None:
    """The text without the folder that the target stands in: a result must not name a machine's folders."""
    return text and text.replace(f"{files.root or files.project}/", "")


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@cache
def _loaded(files: VariantFiles) -> LoadedTarget:
    """The target, its modules imported in the environment and under the capture that are set up now.

    Raises:
        ConfigurationError: it cannot be loaded, or this process has loaded other files of it.
    """
    if parent_process() is not None:
        from evals.target.http_hooks import stay_captured  # noqa: PLC0415

        _write_output_to(files.project / ".cache" / "target.log")
        if "distributed.worker" not in sys.modules:  # one of Dask's connects to its scheduler
            stay_captured()
    _processes.add(files.process)
    if len(_processes) > 1:
        raise ConfigurationError("one process cannot run two versions of a target; use --jobs 1")
    from evals.target.clock_and_random import seeded  # noqa: PLC0415 - loads LangGraph, as the next
    from evals.target.drive import Driver  # noqa: PLC0415
    from evals.target.langgraph_json import load_graph, read_langgraph_json  # noqa: PLC0415
    from evals.target.store_index import store_index  # noqa: PLC0415

    settings = TargetSettings.of(files.project)
    file = read_langgraph_json(files.folder(settings))
    name = settings.graph or _only(list(file.graphs), files.project)
    before = dict(os.environ)
    try:
        with seeded("import"), importing(file.graphs.get(name, name).rpartition(":")[0].removeprefix("./")):
            graph, index = load_graph(file, name, _hosts(settings)), store_index(file)
        variables = {name: value for name, value in os.environ.items() if before.get(name) != value}
        return LoadedTarget(graph, settings, Driver(), variables, index)
    except ConfigurationError as error:
        if files.root is None:
            raise
        raise ConfigurationError(f"at {files.revision}: {error}".replace(f"{files.root}/", "")) from error


def _write_output_to(log: Path) -> None:
    """From now on all that this process prints goes into a file: the target's output is not the command's."""
    log.parent.mkdir(parents=True, exist_ok=True)
    keep = log.is_file() and log.stat().st_size < _LOG
    with log.open("ab" if keep else "wb") as stream:
        for place in (1, 2):
            os.dup2(stream.fileno(), place)


def _hosts(settings: TargetSettings) -> "Hosts":
    from evals.target.http_capture import Hosts  # noqa: PLC0415 - loads LangGraph

    return Hosts(frozenset(settings.pass_through), frozenset(settings.record))


def _only(names: list[str], root: Path) -> str:
    if len(names) > 1:
        raise ConfigurationError(f"{root / FILE}: langgraph.json names {', '.join(names)}; write graph under [{TABLE}]")
    return names[0]


@dataclass
class _Surroundings:
    """What is set up for the trials of a process: by the first of those side by side, until the last has ended."""

    trials: int = 0
    stack: ExitStack = field(default_factory=ExitStack)


_processes: Final[set[str]] = set()
"""Whose files this process has loaded; one at most."""
_surroundings: Final[dict[VariantFiles, _Surroundings]] = {}


@contextmanager
def target_ready(files: VariantFiles, *, replay: bool) -> Iterator[LoadedTarget]:
    """The target inside the block, with requests captured, its environment set and its clock frozen.

    Trials may run side by side in one event loop: environment and clock are the process's, so they are shared.
    """
    key = files.shared
    shared = _surroundings.setdefault(key, _Surroundings())
    shared.trials += 1
    try:
        if is_first := shared.trials == 1:
            _set_up(key, shared.stack, replay=replay)
        target = _loaded(key)
        if is_first:
            os.environ.update(target.variables)  # they went with the block of the import
        yield target
    finally:
        shared.trials -= 1
        if not shared.trials:
            del _surroundings[key]
            shared.stack.close()


def _set_up(files: VariantFiles, stack: ExitStack, *, replay: bool) -> None:
    from evals.target.clock_and_random import frozen_clock  # noqa: PLC0415 - loads LangGraph, as the next
    from evals.target.http_hooks import captured  # noqa: PLC0415
    from evals.target.langgraph_json import environment_of, read_langgraph_json  # noqa: PLC0415
    from evals.target.target_settings import set_as_recorded  # noqa: PLC0415

    settings = TargetSettings.of(files.project)
    file = read_langgraph_json(files.folder(settings))
    if files.root is not None and not file.environment:  # the file that `env` names is mostly not committed
        now = read_langgraph_json(files.project / settings.folder)
        file = replace(file, environment=now.environment)
    stack.enter_context(files.in_place())
    stack.enter_context(captured())
    stack.enter_context(environment_of(file, replay=replay))
    if replay:
        set_as_recorded(files.project)
    stack.enter_context(frozen_clock(settings.clock))
