"""The self-test of a suite: faults planted in it that must be caught, and false alarms counted."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np

from evals.errors import EXIT_OK, CannotJudgeError
from evals.judging.baseline import make_baseline
from evals.judging.scoring import score_trials
from evals.judging.summary import SEED
from evals.models.run import Run, Trial
from evals.models.selftest import PlantedFault, RedRate, SelfTest
from evals.pipeline.replay import replay
from evals.pipeline.select import Selected, needless
from evals.runner import workers
from evals.selftest.bench import Bench, scratch
from evals.selftest.chance import red_rate
from evals.selftest.faults import FAULTS

FLIPS: Final = (1, 2, 4, 8)
CHURN: Final = 0.05
MANY: Final = 64
"""Cases of the second, larger generated suite."""

STEPS: Final = len(FAULTS) + 2 * 2 * (1 + len(FLIPS))
"""How often a self-test calls `said`, at most."""

Said = Callable[[str], None]


def self_test(chosen: Selected, *, jobs: int, draws: int, said: Said) -> SelfTest:
    """Plant every fault, run the reference twice, and draw comparisons; `said` is told of each step.

    Raises:
        CannotJudgeError: the suite is not green as it is, so that a red with a fault in it would prove nothing.
    """
    with workers.kept():
        return _self_test(chosen, jobs, draws, said)


def _self_test(chosen: Selected, jobs: int, draws: int, said: Said) -> SelfTest:
    trials = score_trials(chosen.by_id, replay(chosen, jobs=jobs).traces)
    with _bench(chosen, trials, jobs) as bench:
        control = bench.run()
        if control.verdict.exit_code != EXIT_OK:
            raise CannotJudgeError(
                f"{chosen.suite.name} must be green before faults are planted: {control.verdict.sentence}"
            )
        unlike, total = _twice(bench)
    return SelfTest(
        suite=chosen.suite.name,
        candidate=chosen.suite.candidate,
        reference=chosen.suite.reference,
        alpha=chosen.suite.gate.alpha,
        faults=_planted(chosen, trials, jobs, said),
        unlike=unlike,
        total=total,
        rates=_rates(chosen, draws, said),
    )


@contextmanager
def _bench(chosen: Selected, trials: tuple[Trial, ...], jobs: int) -> Iterator[Bench]:
    """A fresh bench in a scratch checkout, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="evals-selftest-") as folder:
        variants = tuple(chosen.variants)
        yield Bench(
            suite=chosen.suite,
            cases=tuple(chosen.cases),
            variants=variants,
            trials=trials,
            baseline=make_baseline(chosen.suite.name, chosen.cases, variants, trials),
            workspace=scratch(chosen.workspace, Path(folder)),
            jobs=jobs,
            needless=needless(chosen),
        )


def _twice(bench: Bench) -> tuple[tuple[str, ...], int]:
    """Which traces of the reference are not the same when everything is run once more, and of how many."""
    name = bench.suite.reference
    before = [trial.trace for trial in bench.trials if trial.trace.variant == name]
    reference = next(info for info in bench.variants if info.variant.name == name)
    again = bench.replay(reference, fresh=True)
    unlike = [
        f"{now.case_id} {f'failed: {now.error}' if now.error else 'gave another trace'}"
        for was, now in zip(before, again, strict=True)
        if was.model_dump_json() != now.model_dump_json()
    ]
    return tuple(unlike), len(before)


def _planted(chosen: Selected, trials: tuple[Trial, ...], jobs: int, said: Said) -> tuple[PlantedFault, ...]:
    """Plant each fault on a bench of its own, and see what the gate makes of it."""
    found = []
    for fault in FAULTS:
        said(f"planting: {fault.name}")
        with _bench(chosen, trials, jobs) as bench:
            run = fault.plant(bench)
        code = None if run is None else run.verdict.exit_code
        found.append(PlantedFault(name=fault.name, what=fault.what, said=_in_words(run), exit_code=code))
    return tuple(found)


def _in_words(run: Run | None) -> str:
    if run is None:
        return "changes no trace of this suite"
    decisive = [reason.kind for reason in run.verdict.reasons if reason.kind != "note"]
    return f"{run.verdict.status} ({run.verdict.exit_code}): {', '.join(dict.fromkeys(decisive)) or 'nothing'}"


def _rates(chosen: Selected, draws: int, said: Said) -> tuple[RedRate, ...]:
    """False alarms and power, for as many cases as this suite has and for many."""
    drawn = [
        (cases, flips, churn)
        for cases in sorted({len(chosen.cases), MANY})
        for churn in (0.0, CHURN)
        for flips in (0, *FLIPS)
    ]
    rng = np.random.default_rng(SEED)
    rates = []
    for cases, flips, churn in drawn:
        said(f"drawing: {flips} flips in {cases} cases")
        rates.append(red_rate(cases, flips, churn, draws, chosen.suite.gate, rng))
    return tuple(rates)
