"""A scratch checkout in which a suite can be spoilt and run again; the real one is read and never written."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from evals.judging.assemble import assemble
from evals.judging.material import Material
from evals.judging.scoring import score_trials
from evals.models.case import Case
from evals.models.run import Baseline, Run, Scope, Trial, VariantInfo
from evals.models.suite import Suite
from evals.models.trace import Trace
from evals.runner.pool import run_trials
from evals.workspace import Workspace


@dataclass(frozen=True)
class Bench:
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
        return run_trials(self.suite, self.cases, variants, self.workspace, jobs=1, fresh=fresh, progress=_quiet).traces

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


def _quiet(trace: Trace, *, reused: bool, total: int) -> None:
    """Nobody watches single trials here."""


@contextmanager
def spoilable(bench: Bench) -> Iterator[Bench]:
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
