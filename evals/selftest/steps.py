"""The steps of a self-test. None needs another, so that each can be taken in a process of its own."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, get_args

import numpy as np

from evals.errors import CannotJudgeError, EvalsError
from evals.judging.summary import SEED
from evals.models.run import Run
from evals.models.selftest import PlantedFault, RedRate
from evals.selftest.bench import Bench, spoilable
from evals.selftest.chance import red_rate
from evals.selftest.faults import Fault
from evals.selftest.repeats import Planted, Repeats

FLIPS: Final = (1, 2, 4, 8)
CHURN: Final = 0.05
MANY: Final = 64
"""Cases of the second, larger generated suite."""


@dataclass(frozen=True)
class Step:
    """What is done with the bench that lies in a file. Everything in it can be sent to another process."""

    name: str
    work: Callable[[Bench], Any]
    ground: Path

    @property
    def patience(self) -> float:
        """Seconds it may take: planting a fault in a thousand cases takes its time."""
        return 3600.0

    @property
    def overdue(self) -> str:
        """What is said of it when it took longer."""
        return f"it did not end within {self.patience:g} s"

    def parts(self) -> list["Step"]:
        """Itself: it cannot be divided."""
        return [self]


def taken(step: Step) -> tuple[Step, Any]:
    """The step and what it gave; an error of ours in its place."""
    try:
        return step, step.work(_laid(step.ground))
    except EvalsError as error:
        return step, error


def lost(step: Step, why: str) -> tuple[Step, EvalsError]:
    """A step that no process came back from."""
    return step, CannotJudgeError(f"self-test, {step.name}: {why}")


def lay(bench: Bench) -> Path:
    """Write the bench to where every step finds it."""
    path = bench.scratch / "bench"
    path.write_bytes(pickle.dumps(bench))
    return path


@lru_cache(maxsize=1)
def _laid(path: Path) -> Bench:
    bench: Bench = pickle.loads(path.read_bytes())  # noqa: S301 - written a moment ago, by `lay`
    return bench


def twice(bench: Bench) -> tuple[tuple[str, ...], int]:
    """Which traces of the reference are not the same when everything is run once more, and of how many."""
    name = bench.suite.reference
    before = [trial.trace for trial in bench.trials if trial.trace.variant == name]
    reference = next(info for info in bench.variants if info.variant.name == name)
    with spoilable(bench) as apart:
        again = apart.replay(reference, fresh=True)
    unlike = [
        f"{now.case_id} {f'failed: {now.error}' if now.error else 'gave another trace'}"
        for was, now in zip(before, again, strict=True)
        if was.model_dump_json() != now.model_dump_json()
    ]
    return tuple(unlike), len(before)


def planted(fault: Fault, bench: Bench) -> PlantedFault:
    """Plant the fault on a bench of its own, and see what the gate makes of it."""
    with spoilable(bench) as apart:
        run = fault.plant(apart)
    code = None if run is None else run.verdict.exit_code
    return PlantedFault(name=fault.name, what=fault.what, said=_in_words(run), exit_code=code)


def _in_words(run: Run | None) -> str:
    if run is None:
        return "changes no trace of this suite"
    decisive = [reason.kind for reason in run.verdict.reasons if reason.kind != "note"]
    return f"{run.verdict.status} ({run.verdict.exit_code}): {', '.join(dict.fromkeys(decisive)) or 'nothing'}"


def rates(draws: int, bench: Bench) -> tuple[RedRate, ...]:
    """False alarms and power on generated outcomes, for as many cases as this suite has and for many."""
    drawn = [
        (cases, flips, churn)
        for cases in sorted({len(bench.cases), MANY})
        for churn in (0.0, CHURN)
        for flips in (0, *FLIPS)
    ]
    rng = np.random.default_rng(SEED)
    return tuple(red_rate(cases, flips, churn, draws, bench.suite.gate, rng) for cases, flips, churn in drawn)


def repeat_rates(draws: int, bench: Bench) -> tuple[RedRate, ...]:
    """The same through the whole gate on the recorded repeats; none where the suite has one answer per request. A
    planted loss takes a quarter of the draws: power is read to ten per cent, false alarms to one."""
    if bench.suite.samples < 2:
        return ()
    repeats, rng = Repeats(bench.material()), np.random.default_rng(SEED)
    power = [(losses, planted) for planted in get_args(Planted) for losses in FLIPS[1:]]
    return (
        repeats.rate(draws, rng),
        *(repeats.rate(max(20, draws // 4), rng, losses, planted) for losses, planted in power),
    )
