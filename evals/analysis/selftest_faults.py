"""Faults that a self-test plants in a suite of any target."""

import hashlib
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Final

from evals.application_pack import Pack
from evals.comparison.assemble_run import assemble
from evals.comparison.baseline import load_baseline, path_of, write_baseline
from evals.comparison.metric_summaries import Material
from evals.errors import CannotJudgeError
from evals.models.case import Case
from evals.models.run import Baseline, Run, Scope, Trial, VariantInfo
from evals.models.run_request import RunRequest
from evals.models.suite import Suite
from evals.models.trace import Trace
from evals.run_context import RunContext
from evals.runner.trials import run_trials
from evals.scoring.registry import deciding, score_trials, scorers
from evals.scoring.scorer import score
from evals.workspace import Workspace


@dataclass(frozen=True)
class ScratchSuite:
    """A suite with its trials as they are, blessed on the spot: the ground every fault is planted in. Everything in it
    can be sent to another process."""

    suite: Suite
    cases: tuple[Case, ...]
    variants: tuple[VariantInfo, ...]
    trials: tuple[Trial, ...]
    baseline: Baseline
    workspace: Workspace
    scratch: Path
    """Folder for copies that are spoilt; who made it removes it, whatever becomes of the processes that spoil them."""
    needless: tuple[str, ...] = ()
    """Why the baseline does not apply where options ask for what the suite has anyway: never, if all is well."""

    @property
    def candidate(self) -> VariantInfo:
        """The variant that faults are planted in."""
        return next(info for info in self.variants if info.variant.name == self.suite.candidate)

    @property
    def traces(self) -> list[Trace]:
        """Those of the candidate."""
        return [trial.trace for trial in self.trials if trial.trace.variant == self.suite.candidate]

    def replay(self, *variants: VariantInfo, fresh: bool = False) -> tuple[Trace, ...]:
        """The traces of variants on the bench's cassettes, run in this process: other steps have the other cores."""
        context = RunContext(
            request=RunRequest(self.suite.name, fresh=fresh),
            workspace=self.workspace,
            suite=self.suite,
            dataset=self.cases,
            cases=self.cases,
            variants=variants,
            scope=Scope(cases=len(self.cases), selected=len(self.cases)),
        )
        return run_trials(context).traces

    def run(self, trials: Sequence[Trial] | None = None, **changed: object) -> Run:
        """The suite judged, with other trials or other fields of the material."""
        return assemble(replace(self.material(trials), **changed))  # type: ignore[arg-type]  # names and types are the callers'

    def material(self, trials: Sequence[Trial] | None = None) -> Material:
        """What the suite is judged from; its answers are those it was blessed with."""
        return Material(
            suite=self.suite,
            cases=self.cases,
            variants=self.variants,
            trials=self.trials if trials is None else trials,
            scope=Scope(cases=len(self.cases), selected=len(self.cases)),
            dataset_baselines=(),
            baseline=self.baseline,
            wants_baseline=True,
            partial=(),
            record_command=f"make record SUITE={self.suite.name}",
            bless_command=f".venv/bin/evals bless {self.suite.name}",
            cassettes=self.baseline.cassettes,
            pack=self.workspace.pack,
            metrics=deciding(self.workspace.pack, self.suite.primary, self.cases),
        )

    def with_candidate(self, traces: Sequence[Trace]) -> tuple[Trial, ...]:
        """The bench's trials, those of the candidate replaced by what these traces come to."""
        name = self.suite.candidate
        renamed = [trace.model_copy(update={"variant": name}) for trace in traces]
        spoilt = score_trials({case.id: case for case in self.cases}, renamed, self.workspace.pack)
        return (*(trial for trial in self.trials if trial.trace.variant != name), *spoilt)


@dataclass(frozen=True)
class CopiedCassettes(Workspace):
    """A workspace whose cassettes are copies, beside the real code, datasets and caches (caches are named by content,
    so nothing wrong can enter them)."""

    copies: Path

    @property
    def cassettes(self) -> Path:
        """The folder of the copies."""
        return self.copies


@contextmanager
def spoilable(bench: ScratchSuite) -> Iterator[ScratchSuite]:
    """The same with copies of the cassettes and a scratch folder of its own, gone afterwards."""
    real = bench.workspace
    with tempfile.TemporaryDirectory(dir=bench.scratch) as name:
        copies = Path(name) / "cassettes"
        shutil.copytree(real.cassettes, copies)
        yield replace(bench, workspace=CopiedCassettes(real.root, real.datasets, copies), scratch=Path(name))


Plant = Callable[[ScratchSuite], Run | str]
"""The suite's run with the fault in it; one line where it is no fault of this suite, which says why."""
UNCHANGED: Final = "changes no trace of this suite"
ONE_CASE: Final = "the suite has one case"
UNSEEN: Final = "no label and no `as_blessed` of this suite sees it"


@dataclass(frozen=True)
class FaultPlan:
    """A fault by name, what is done, and how."""

    name: str
    what: str
    plant: Plant


def plan_of(plant: Plant) -> FaultPlan:
    """A fault called as its function is, with its docstring."""
    return FaultPlan(plant.__name__.replace("_", " "), " ".join((plant.__doc__ or "").split()), plant)


def swapped_cassettes(bench: ScratchSuite) -> Run | str:
    """Two cases answer from each other's cassette."""
    if len(bench.cases) < 2:
        return ONE_CASE
    first, second = (bench.workspace.cassette(case.id) for case in bench.cases[:2])
    kept = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(kept)
    return replayed(bench, bench.candidate)


def cut_cassette(bench: ScratchSuite) -> Run | str:
    """Half of a cassette is lost."""
    path = bench.workspace.cassette(bench.cases[0].id)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    return replayed(bench, bench.candidate)


def broken_scorer(bench: ScratchSuite) -> Run | str:
    """A scorer stumbles over the candidate's traces."""

    def stumbles(_case: Case, _trace: Trace) -> float:
        raise KeyError("a field that was renamed")

    broken = replace(scorers(bench.workspace.pack)[0], function=stumbles, label="")
    cases = {case.id: case for case in bench.cases}
    return bench.run(
        [
            trial.model_copy(
                update={
                    "outcomes": {
                        **trial.outcomes,
                        broken.name: score(broken, cases[trial.trace.case_id], trial.trace),
                    }
                }
            )
            if trial.trace.variant == bench.suite.candidate
            else trial
            for trial in bench.trials
        ]
    )


def edited_scorer(bench: ScratchSuite) -> Run | str:
    """The scorers are other code than when the baseline was blessed."""
    if not any(info.primary for info in bench.run().scorers):
        return "no metric decides"
    return bench.run(scorers=hashlib.sha256(b"edited").hexdigest())


def stripped_baseline(bench: ScratchSuite) -> Run | str:
    """The candidate's values are cut out of the baseline's file."""
    path = path_of(bench.scratch, bench.suite.name)
    write_baseline(path, bench.baseline)
    told = json.loads(path.read_bytes())
    told["values"][bench.suite.candidate] = {}
    path.write_text(json.dumps(told), encoding="utf-8")
    try:
        return bench.run(baseline=load_baseline(path))
    except CannotJudgeError as error:
        return bench.run(partial=(str(error),))  # with this error `evals run` ends, and with this exit code


def empty_run(bench: ScratchSuite) -> Run | str:
    """Nothing was run at all."""
    return bench.run(())


def dropped_step(bench: ScratchSuite) -> Run | str:
    """In every case a step is missing: the one the first decision chose, else the last."""

    def shorter(trace: Trace) -> Trace:
        places = _chosen_places(trace) or [len(trace.visits) - 1]
        left = tuple(visit for place, visit in enumerate(trace.visits) if place != places[0])
        return trace.model_copy(update={"visits": left})

    return _altered(bench, [shorter(trace) for trace in bench.traces])


def other_decision(bench: ScratchSuite) -> Run | str:
    """In every case the first decision goes where it most often goes in others, and so does the step after it."""
    first = Counter(trace.decisions[0].routed for trace in bench.traces if trace.decisions)
    if not first:
        return "no decision is recorded: name `routers` in evals.toml"
    if len(first) == 1:
        return f"the first decision is {next(iter(first))} in every case"

    def astray(trace: Trace) -> Trace:
        if not trace.decisions:
            return trace
        was = trace.decisions[0]
        now = next(name for name, _ in first.most_common() if name != was.routed)
        places = _chosen_places(trace)
        return trace.model_copy(
            update={
                "decisions": (was.model_copy(update={"chosen": now, "routed": now}), *trace.decisions[1:]),
                "visits": tuple(
                    visit.model_copy(update={"node": now.partition(" ")[0]}) if place in places[:1] else visit
                    for place, visit in enumerate(trace.visits)
                ),
            }
        )

    return _altered(bench, [astray(trace) for trace in bench.traces])


def lost_output(bench: ScratchSuite) -> Run | str:
    """In every case a field of the output is missing: the first whose loss can be seen."""
    fields = sorted({name for trace in bench.traces for name in trace.output})
    for field in fields:
        found = _altered(bench, [_with_output(trace, trace.output, without=field) for trace in bench.traces])
        if not isinstance(found, str):
            return found
    return UNSEEN if fields else "the trials have no output fields"


def shuffled_answers(bench: ScratchSuite) -> Run | str:
    """Every case gets the output of the next one."""
    traces = bench.traces
    if len(bench.cases) < 2:
        return ONE_CASE
    if not any(trace.output for trace in traces):
        return "the trials have no output fields"
    outputs = {(trace.case_id, trace.sample): trace.output for trace in traces}
    names = [case.id for case in bench.cases]
    after = dict(zip(names, (*names[1:], names[0]), strict=True))
    return _altered(
        bench,
        [_with_output(trace, outputs.get((after[trace.case_id], trace.sample), trace.output)) for trace in traces],
    )


_IN_TRIALS: Final = (dropped_step, other_decision, lost_output, shuffled_answers)
_IN_FILES: Final = (broken_scorer, edited_scorer, swapped_cassettes, cut_cassette, stripped_baseline, empty_run)
FAULTS: Final = tuple(map(plan_of, (*_IN_TRIALS, *_IN_FILES)))
"""Those that fit any target."""


def faults_of(pack: Pack) -> tuple[FaultPlan, ...]:
    """The faults of an application, then those that fit any."""
    own: tuple[FaultPlan, ...] = import_module(pack.faults).FAULTS if pack.faults else ()
    return (*own, *FAULTS)


def _chosen_places(trace: Trace) -> list[int]:
    """Where the steps stand that the first decision chose."""
    chosen = trace.decisions[0].routed.split() if trace.decisions else []
    return [place for place, visit in enumerate(trace.visits) if visit.node in chosen]


def _with_output(trace: Trace, output: Mapping[str, object], without: str = "") -> Trace:
    return trace.model_copy(update={"output": {name: value for name, value in output.items() if name != without}})


def _altered(bench: ScratchSuite, traces: Sequence[Trace]) -> Run | str:
    """The run with other traces of the candidate; one line where no score and no comparison with the blessed run sees
    the difference."""
    trials = bench.with_candidate(traces)
    run = bench.run(trials)
    decides = [info.name for info in run.scorers if info.primary]
    was, now = (
        [[trial.outcomes.get(name) for name in decides] for trial in each if trial.trace.variant == run.candidate]
        for each in (bench.trials, trials)
    )
    return run if was != now or run.changes else UNSEEN


def replayed(bench: ScratchSuite, info: VariantInfo) -> Run | str:
    """The run with the candidate replayed as `info`."""
    trials = bench.with_candidate(bench.replay(info))
    return bench.run(trials) if _traces(trials) != _traces(bench.trials) else UNCHANGED


def _traces(trials: Sequence[Trial]) -> set[str]:
    return {trial.trace.model_dump_json() for trial in trials}
