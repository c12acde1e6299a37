"""Runs of different suites and models put together: who answered which case, held-out cases left out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evals.errors import ConfigurationError
from evals.models.run import CaseInfo, Run, Trial


@dataclass(frozen=True)
class Pool:
    """Cases by id, and every trial with the name of who answered it."""

    cases: Mapping[str, CaseInfo]
    trials: tuple[tuple[str, Trial], ...]

    @property
    def exact(self) -> tuple[tuple[str, Trial], ...]:
        """The trials that are wholly on the tape."""
        return tuple((who, trial) for who, trial in self.trials if trial.trace.provenance.label == "exact")


def pooled(runs: Sequence[Run]) -> Pool:
    """All cases that are not held out, and their trials.

    Raises:
        ConfigurationError: two runs have different labels for one case; evidence about both is about neither.
    """
    cases: dict[str, CaseInfo] = {}
    for run in runs:
        for case in run.cases:
            if case.split != "holdout" and cases.setdefault(case.id, case) != case:
                raise ConfigurationError(f"{case.id}: labelled otherwise in suite {run.suite} than in a run before it")
    named = zip(_names(runs), runs, strict=True)
    trials = tuple((names[trial.trace.variant], trial) for names, run in named for trial in run.trials)
    return Pool(cases, tuple((who, trial) for who, trial in trials if trial.trace.case_id in cases))


def _names(runs: Sequence[Run]) -> Iterator[Mapping[str, str]]:
    """Per run, variant -> name: of one run the variant's own, of several with suite and model, each name once."""
    seen: set[str] = set()
    for number, run in enumerate(runs, 1):
        names = {}
        for variant in (info.variant for info in run.variants):
            name = f"{run.suite}/{variant.name} ({variant.models.default})" if len(runs) > 1 else variant.name
            names[variant.name] = f"{name} in run {number}" if name in seen else name
        seen.update(names.values())
        yield names
