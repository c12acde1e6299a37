"""`evals selftest`: plants faults in a green suite and nothing in another, and prints what the gate made of it."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from evals.baseline import make_baseline
from evals.cli.commands.execute import replay
from evals.cli.commands.progress import bar
from evals.cli.commands.run import wide_console
from evals.cli.commands.selection import Options, Selected, scored, selected
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK, EXIT_WORSE, CannotJudgeError
from evals.models.run import Run, Trial
from evals.report.numbers import percent
from evals.scoring import score_trials
from evals.selftest.bench import Bench, scratch
from evals.selftest.chance import Rate, red_rate
from evals.selftest.faults import FAULTS
from evals.stats.intervals import format_rate
from evals.summary import SEED

FLIPS = (1, 2, 4, 8)
CHURN = 0.05
MANY = 64
"""Cases of the second, larger generated suite."""


def selftest(name: str, root: Path, *, jobs: int, draws: int, today: date) -> int:
    """Exit 0 if every fault that changes anything is caught and false alarms are no more frequent than alpha, else 1.

    Raises:
        CannotJudgeError: the suite is not green as it is, so that a red with a fault in it would prove nothing.
    """
    chosen, _ = scored(selected(name, root, Options()), Options(), today)
    trials = score_trials(chosen.by_id, replay(chosen, jobs=jobs, fresh=False).traces)
    console = wide_console()
    with _bench(chosen, trials, jobs) as bench:
        control = bench.run()
        if control.verdict.exit_code != EXIT_OK:
            raise CannotJudgeError(f"{name} must be green before faults are planted: {control.verdict.sentence}")
        alike, total = _twice(bench)
    caught = _faults(chosen, trials, jobs, console)
    policy, sizes = chosen.suite.gate, sorted({len(chosen.cases), MANY})
    rng = np.random.default_rng(SEED)
    with bar("drawing", len(sizes) * (1 + 2 * len(FLIPS))) as progress:

        def drawn(cases: int, flips: int, churn: float) -> Rate:
            progress.step(f"{flips} flips in {cases} cases")
            return red_rate(cases, flips, churn, draws, policy, rng)

        alarms = [drawn(cases, 0, CHURN) for cases in sizes]
        power = [[drawn(cases, flips, churn) for flips in FLIPS] for cases in sizes for churn in (0.0, CHURN)]
    console.print(_chance(alarms, power))
    quiet = alike == total and all(rate.within(policy.alpha) for rate in alarms)
    console.print(
        f"A/A on the tape: {alike} of {total} traces of {chosen.suite.reference} are the same when replayed again. "
        f"False alarms on generated outcomes: {', '.join(f'{_share(rate)} of {rate.cases} cases' for rate in alarms)}; "
        f"alpha is {percent(policy.alpha)}."
    )
    good = quiet and caught
    console.print("The gate does what it says." if good else "The gate does not do what it says.", style="bold")
    return EXIT_OK if good else EXIT_WORSE


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
        )


def _twice(bench: Bench) -> tuple[int, int]:
    """How many traces of the reference are the same when everything is run once more, and of how many."""
    name = bench.suite.reference
    before = [trial.trace for trial in bench.trials if trial.trace.variant == name]
    reference = next(info for info in bench.variants if info.variant.name == name)
    again = bench.replay(reference, fresh=True)
    same = (one.model_dump_json() == other.model_dump_json() for one, other in zip(before, again, strict=True))
    return sum(same), len(before)


def _faults(chosen: Selected, trials: tuple[Trial, ...], jobs: int, console: Console) -> bool:
    """Plant each fault on a bench of its own; print what came of it; whether all were caught."""
    table = Table(title=f"Faults planted in {chosen.suite.candidate} of {chosen.suite.name}")
    for heading in ("fault", "what is done", "the gate says", "caught"):
        table.add_column(heading)
    missed = 0
    with bar("planting", len(FAULTS)) as progress:
        for fault in FAULTS:
            progress.step(fault.name)
            with _bench(chosen, trials, jobs) as bench:
                run = fault.plant(bench)
            missed += run is not None and run.verdict.exit_code == EXIT_OK
            table.add_row(fault.name, fault.what, _said(run), _caught(run))
    console.print(table)
    return missed == 0


def _said(run: Run | None) -> str:
    if run is None:
        return "changes no trace of this suite"
    decisive = [reason.kind for reason in run.verdict.reasons if reason.kind != "note"]
    return f"{run.verdict.status} ({run.verdict.exit_code}): {', '.join(dict.fromkeys(decisive)) or 'nothing'}"


def _caught(run: Run | None) -> str:
    if run is None:
        return "nothing to catch"
    return "yes" if run.verdict.exit_code in (EXIT_WORSE, EXIT_CANNOT_JUDGE) else "NO"


def _chance(alarms: list[Rate], power: list[list[Rate]]) -> Table:
    """Red verdicts on generated outcomes: none planted, then 1, 2, 4 and 8 losses."""
    table = Table(title="Power on generated outcomes (not the tape): share of draws the gate calls worse")
    for heading in ("cases", "churn", "nothing planted", *(f"{flips} lost" for flips in FLIPS)):
        table.add_column(heading)
    for row in power:
        cases, churn = row[0].cases, row[0].churn
        nothing = next(rate for rate in alarms if rate.cases == cases)
        table.add_row(
            str(cases),
            percent(churn),
            _share(nothing) if churn else "never",
            *((_share(rate) if churn else "always" if rate.red else "never") for rate in row),
        )
    return table


def _share(rate: Rate) -> str:
    low, high = rate.interval
    return f"{format_rate(rate.red, rate.draws, 0)} [{percent(low)}, {percent(high)}]"
