"""A suite in one process of pytest: replayed case by case as tests ask for them, judged as a whole where one must know.

Processes share what they find through the cache; a lock per case sees to it that none replays what another is at.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from filelock import FileLock

from evals.judging.scoring import score_trials
from evals.models.run import Run, Trial
from evals.pipeline.deliver import deliver
from evals.pipeline.judge import may_have_broken
from evals.pipeline.load import LoadedSuite
from evals.pipeline.replay import replay
from evals.runner.pool import TrialId, Trials, trial_id

REPORTS: Final = "pytest"
"""Folder of the reports, below that of all others."""


@dataclass
class SuiteRun:
    """What is known of a suite so far. `asked` is its name as it was typed.

    `wanted` are the variants whose tests are selected, by case: those of a case are replayed together, so that its
    cassette and its code are read once.
    """

    suite: LoadedSuite
    asked: str
    wanted: dict[str, set[str]] = field(default_factory=dict)
    _trials: dict[TrialId, Trial] = field(default_factory=dict)
    _whole: Run | None = None

    @property
    def folder(self) -> Path:
        """Where the report of the whole run is."""
        return self.suite.workspace.reports / REPORTS / self.suite.suite.name

    def trial(self, case: str, variant: str, sample: int) -> Trial:
        """The trial, scored; replayed now if it was not yet."""
        if (case, variant, sample) not in self._trials:
            self._replay(case, {variant, *self.wanted.get(case, ())})
        return self._trials[case, variant, sample]

    def may_have_broken(self, case: str, variant: str) -> bool:
        """Whether the case may count as broken: where nothing of it is lower, the whole run need not be known."""
        names = {variant, self.suite.suite.reference} & {info.variant.name for info in self.suite.variants}
        samples = range(self.suite.suite.samples)
        trials = [self.trial(case, name, sample) for name in sorted(names) for sample in samples]
        return may_have_broken(_only(self.suite, case, names), trials, variant)

    def whole(self) -> Run:
        """The suite as `evals run` has it, with its report; made once, and kept for other processes."""
        if self._whole is None:
            everyone = {info.variant.name for info in self.suite.variants}
            for case in self.suite.cases:
                self._replay(case.id, everyone)
            order = (
                (case.id, info.variant.name, sample)
                for case in self.suite.cases
                for info in self.suite.variants
                for sample in range(self.suite.suite.samples)
            )
            traces = tuple(self._trials[each].trace for each in order)
            with self._alone("verdict"):
                self._whole = deliver(self.suite, Trials(traces, reused=0), self.folder)
        return self._whole

    def _replay(self, case: str, variants: set[str]) -> None:
        """Replay what is not known yet of the case under these variants."""
        known = {name for of, name, _ in self._trials if of == case}
        if not variants - known:
            return
        part = _only(self.suite, case, variants - known)
        with self._alone(case):
            traces = replay(part).traces
        self._trials |= {trial_id(trial.trace): trial for trial in score_trials(part.by_id, traces)}

    def _alone(self, what: str) -> FileLock:
        """Held while this process is at it; the next one finds what it left in the cache."""
        folder = self.suite.workspace.cache / REPORTS / self.suite.suite.name
        folder.mkdir(parents=True, exist_ok=True)
        return FileLock(folder / f"{what}.lock")


def _only(suite: LoadedSuite, case: str, variants: set[str]) -> LoadedSuite:
    return replace(
        suite,
        cases=[suite.by_id[case]],
        variants=[info for info in suite.variants if info.variant.name in variants],
    )
