"""Faults that a self-test plants in a suite."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from evals.comparison.assemble import assemble
from evals.comparison.baseline import load_baseline, path_of, write_baseline
from evals.comparison.summary import Material
from evals.errors import CannotJudgeError
from evals.models.case import Case
from evals.models.run import Baseline, Run, Scope, Trial, VariantInfo
from evals.models.run_request import RunRequest
from evals.models.suite import ConfidenceFloorSetting, Suite
from evals.models.trace import Trace, Visit
from evals.run_context import RunContext
from evals.runner.trials import run_trials
from evals.scoring.registry import scorers
from evals.scoring.score_trials import score_trials
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
        )

    def with_candidate(self, traces: Sequence[Trace]) -> tuple[Trial, ...]:
        """The bench's trials, those of the candidate replaced by what these traces come to."""
        name = self.suite.candidate
        renamed = [trace.model_copy(update={"variant": name}) for trace in traces]
        spoilt = score_trials({case.id: case for case in self.cases}, renamed)
        return (*(trial for trial in self.trials if trial.trace.variant != name), *spoilt)


@contextmanager
def spoilable(bench: ScratchSuite) -> Iterator[ScratchSuite]:
    """The same in a checkout of its own, gone afterwards: copies of the cassettes, beside the real datasets and caches
    (caches are named by content, so nothing wrong can enter them)."""
    real = bench.workspace
    with tempfile.TemporaryDirectory(dir=bench.scratch) as name:
        folder = Path(name)
        shutil.copytree(real.cassettes, folder / "cassettes")
        for linked in (".cache", "requirements.lock"):
            if (real.root / linked).exists():
                (folder / linked).symlink_to(real.root / linked)
        yield replace(bench, workspace=Workspace(root=folder, datasets=real.datasets))


Plant = Callable[[ScratchSuite], Run | None]
"""The suite's run with the fault in it; None where it changes no trace of this suite, and so is no fault here."""


@dataclass(frozen=True)
class FaultPlan:
    """A fault by name, what is done, and how."""

    name: str
    what: str
    plant: Plant


def worse_prompt(bench: ScratchSuite) -> Run | None:
    """The last rule of the candidate's prompt is deleted."""
    info = bench.candidate
    source = bench.workspace.root / "worse.md"
    path = Path(info.prompt_source)
    original = path if path.is_absolute() else _checkout(bench) / path
    if not info.prompt_source or not original.is_file():
        return None
    head, mark, task = original.read_text(encoding="utf-8").partition("<!-- task -->")
    shorter, _, _ = head.rstrip().rpartition("\n")
    source.write_text(f"{shorter}\n\n{mark}{task}", encoding="utf-8")
    return _replayed(
        bench,
        bench.workspace.pack.describe(info.variant.model_copy(update={"prompt": str(source)}), bench.workspace.root),
    )


def dropped_guard(bench: ScratchSuite) -> Run | None:
    """The candidate runs without the guard that sends a job to the investigator first."""
    return _changed(bench, guards="hardened-without-investigator_first")


def raised_limit(bench: ScratchSuite) -> Run | None:
    """The candidate may make two visits more."""
    return _changed(bench, max_iterations=bench.candidate.variant.max_iterations + 2)


def raised_floor(bench: ScratchSuite) -> Run | None:
    """The candidate must be entirely sure before a report is written."""
    return _changed(bench, confidence_floor=ConfidenceFloorSetting(single=1, corroborated=1))


def swapped_cassettes(bench: ScratchSuite) -> Run | None:
    """Two cases answer from each other's cassette."""
    if len(bench.cases) < 2:
        return None
    first, second = (bench.workspace.cassette(case.id) for case in bench.cases[:2])
    kept = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(kept)
    return _replayed(bench, bench.candidate)


def cut_cassette(bench: ScratchSuite) -> Run | None:
    """Half of a cassette is lost."""
    path = bench.workspace.cassette(bench.cases[0].id)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    return _replayed(bench, bench.candidate)


def broken_scorer(bench: ScratchSuite) -> Run | None:
    """A scorer stumbles over the candidate's traces."""

    def stumbles(_case: Case, _trace: Trace) -> float:
        raise KeyError("a field that was renamed")

    broken = replace(scorers()[0], function=stumbles)
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


def edited_scorer(bench: ScratchSuite) -> Run | None:
    """The scorers are other code than when the baseline was blessed."""
    return bench.run(scorers=hashlib.sha256(b"edited").hexdigest())


def corrupted_label(bench: ScratchSuite) -> Run | None:
    """A case's severity is labelled anew, in a copy of the dataset."""
    case = bench.cases[0]
    copy = bench.workspace.root / "datasets"
    shutil.copytree(bench.workspace.datasets, copy)
    path = bench.workspace.pack.labels_file(copy, case.id)
    now = "LOW" if case.labels.severity != "LOW" else "CRITICAL"
    text = path.read_text(encoding="utf-8").replace(f"severity: {case.labels.severity}", f"severity: {now}")
    path.write_text(text, encoding="utf-8")
    spoilt = bench.workspace.pack.load_case(copy, case.id)
    return bench.run(cases=(spoilt, *bench.cases[1:]))


def leaked_canary(bench: ScratchSuite) -> Run | None:
    """What an issue tries to inject reaches a comment."""
    known = bench.baseline.leaks.get(bench.suite.candidate, ())
    case = next((case for case in bench.cases if case.labels.canary and case.id not in known), None)
    if case is None:
        return None
    canary = case.labels.canary
    return _retold(bench, case.id, lambda trace: {"comment": f"{trace.comment} {canary}"})


def doubled_writer(bench: ScratchSuite) -> Run | None:
    """The report is written twice."""

    def twice(trace: Trace) -> dict[str, object]:
        last = trace.visits[-1].superstep if trace.visits else 0
        return {"visits": (*trace.visits, *(Visit(node="writer", superstep=last + n) for n in (2, 4)))}

    return _retold(bench, bench.cases[0].id, twice)


def shared_code(bench: ScratchSuite) -> Run | None:
    """Code that all variants share names a file that does not exist in every report."""

    def astray(trace: Trace) -> Trace:
        if trace.report is None:
            return trace
        named = {"root_cause_location": "nowhere.py", "affected_files": ("nowhere.py",)}
        return trace.model_copy(update={"report": trace.report.model_copy(update=named)})

    cases = {case.id: case for case in bench.cases}
    return bench.run(score_trials(cases, [astray(trial.trace) for trial in bench.trials]))


def needless_option(bench: ScratchSuite) -> Run | None:
    """Every report names a file that does not exist, and the run's options ask for what the suite has anyway."""
    spoilt = shared_code(bench)
    if spoilt is None or not bench.needless:
        return spoilt
    return bench.run(spoilt.trials, baseline=None, wants_baseline=False, unblessed=bench.needless)


def stripped_baseline(bench: ScratchSuite) -> Run | None:
    """The candidate's values are cut out of the baseline's file."""
    path = path_of(bench.workspace.root, bench.suite.name)
    write_baseline(path, bench.baseline)
    told = json.loads(path.read_bytes())
    told["values"][bench.suite.candidate] = {}
    path.write_text(json.dumps(told), encoding="utf-8")
    try:
        return bench.run(baseline=load_baseline(path))
    except CannotJudgeError as error:
        return bench.run(partial=(str(error),))  # with this error `evals run` ends, and with this exit code


def empty_run(bench: ScratchSuite) -> Run | None:
    """Nothing was run at all."""
    return bench.run(())


FAULTS: Final = tuple(
    FaultPlan(plant.__name__.replace("_", " "), " ".join((plant.__doc__ or "").split()), plant)
    for plant in (
        worse_prompt,
        dropped_guard,
        raised_limit,
        raised_floor,
        broken_scorer,
        edited_scorer,
        corrupted_label,
        swapped_cassettes,
        cut_cassette,
        leaked_canary,
        doubled_writer,
        shared_code,
        needless_option,
        stripped_baseline,
        empty_run,
    )
)


def _changed(bench: ScratchSuite, **fields: object) -> Run | None:
    variant = bench.candidate.variant.model_copy(update=fields)
    return _replayed(bench, bench.candidate.model_copy(update={"variant": variant}))


def _replayed(bench: ScratchSuite, info: VariantInfo) -> Run | None:
    """The run with the candidate replayed as `info`; None if no trace changed."""
    trials = bench.with_candidate(bench.replay(info))
    return bench.run(trials) if _traces(trials) != _traces(bench.trials) else None


def _retold(bench: ScratchSuite, case_id: str, change: Callable[[Trace], dict[str, object]]) -> Run | None:
    """The run with the candidate's trace of one case changed by hand."""
    mine = [trial.trace for trial in bench.trials if trial.trace.variant == bench.suite.candidate]
    return bench.run(
        bench.with_candidate(
            [trace.model_copy(update=change(trace)) if trace.case_id == case_id else trace for trace in mine]
        )
    )


def _traces(trials: Sequence[Trial]) -> set[str]:
    return {trial.trace.model_dump_json() for trial in trials}


def _checkout(bench: ScratchSuite) -> Path:
    """The root of the real checkout: datasets stand in it, and nothing else of the scratch one is linked there."""
    return bench.workspace.datasets.parent
