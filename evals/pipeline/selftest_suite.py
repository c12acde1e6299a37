"""Self-test of a suite: planted faults and false alarms."""

import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final

from evals.analysis.planted_faults import FaultPlan, ScratchSuite, faults_of
from evals.analysis.selftest_steps import SelfTestStep, lay, lost, planted, rates, repeat_rates, taken, twice
from evals.comparison.baseline import make_baseline
from evals.comparison.behaviour_changes import blessed_behaviour
from evals.errors import EXIT_OK, CannotJudgeError, EvalsError
from evals.fork_server import origin
from evals.models.selftest_result import SelfTest
from evals.pipeline.load_suite import needless
from evals.pipeline.run_suite import replay
from evals.run_context import RunContext
from evals.runner.trials import cassette_digests
from evals.runner.worker_pool import run_tasks
from evals.scoring.registry import deciding
from evals.scoring.score_trials import score_trials

AGAIN: Final = "the reference once more"
DRAWN: Final = "drawn comparisons"
REPEATS: Final = "recorded repeats"
Said = Callable[[str], None]


def step_count(chosen: RunContext) -> int:
    """How often a self-test of a suite calls `said`."""
    return 3 + len(faults_of(chosen.pack))


def self_test(chosen: RunContext, *, jobs: int, draws: int, said: Said) -> SelfTest:
    """Plant every fault, run the reference twice, and draw comparisons; `said` is told of each step that is done.

    Raises:
        CannotJudgeError: the suite is not green as it is, so that a red with a fault in it would prove nothing; or a
            step was lost.
    """
    plans = faults_of(chosen.pack)
    if jobs > 1:
        origin()  # it loads while what is known is judged
    found = {}
    with tempfile.TemporaryDirectory(prefix="evals-selftest-") as scratch:
        bench = _bench(chosen, jobs, Path(scratch))
        control = bench.run()
        if control.verdict.exit_code != EXIT_OK:
            raise CannotJudgeError(
                f"{chosen.suite.name} must be green before faults are planted: {control.verdict.sentence}"
            )
        with closing(_all(_steps(lay(bench), draws, plans), jobs)) as results:  # no process is left when the copies go
            for step, result in results:
                if isinstance(result, EvalsError):
                    raise result
                said(step.name)
                found[step.name] = result
    unlike, total = found[AGAIN]
    return SelfTest(
        suite=chosen.suite.name,
        candidate=chosen.suite.candidate,
        reference=chosen.suite.reference,
        alpha=chosen.suite.gate.alpha,
        faults=tuple(found[fault.name] for fault in plans),
        unlike=unlike,
        total=total,
        rates=(*found[REPEATS], *found[DRAWN]),
    )


def _bench(chosen: RunContext, jobs: int, scratch: Path) -> ScratchSuite:
    trials = score_trials(chosen.by_id, replay(chosen, jobs=jobs).traces, chosen.workspace.pack)
    variants = tuple(chosen.variants)
    return ScratchSuite(
        suite=chosen.suite,
        cases=tuple(chosen.cases),
        variants=variants,
        trials=trials,
        baseline=make_baseline(
            chosen.suite.name,
            chosen.cases,
            variants,
            trials,
            cassettes=cassette_digests(chosen.cases, chosen.workspace),
            pack=chosen.workspace.pack,
            behaviour=blessed_behaviour(
                chosen.suite, deciding(chosen.pack, chosen.suite.primary, chosen.cases), trials
            ),
        ),
        workspace=chosen.workspace,
        scratch=scratch,
        needless=needless(chosen),
    )


def _steps(ground: Path, draws: int, plans: Sequence[FaultPlan]) -> list[SelfTestStep]:
    """Those that take longest first: the others fit in between."""
    faults = [SelfTestStep(fault.name, partial(planted, fault), ground) for fault in plans]
    repeats = SelfTestStep(REPEATS, partial(repeat_rates, draws), ground)
    return [SelfTestStep(DRAWN, partial(rates, draws), ground), repeats, SelfTestStep(AGAIN, twice, ground), *faults]


def _all(steps: list[SelfTestStep], jobs: int) -> Generator[tuple[SelfTestStep, Any]]:
    yield from map(taken, steps) if jobs == 1 else run_tasks(steps, jobs, taken, lost)
