"""`evals selftest`: plants faults in a green suite and nothing in another, and prints what the gate made of it."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import numpy as np
from rich.table import Table

from evals.baseline import make_baseline
from evals.cli.commands.execute import replay
from evals.cli.commands.progress import bar
from evals.cli.commands.run import place_of, wide_console
from evals.cli.commands.selection import Options, Selected, scored, selected
from evals.errors import EXIT_OK, EXIT_WORSE, CannotJudgeError
from evals.export.files import write_files
from evals.models.run import Run, Trial
from evals.models.selftest import PlantedFault, RedRate, SelfTest
from evals.report.sheets import render_selftest
from evals.report.view.selftest import again, faults, power
from evals.scoring import score_trials
from evals.selftest.bench import Bench, scratch
from evals.selftest.chance import red_rate
from evals.selftest.faults import FAULTS
from evals.summary import SEED

FLIPS = (1, 2, 4, 8)
CHURN = 0.05
MANY = 64
"""Cases of the second, larger generated suite."""


def selftest(name: str, root: Path, *, jobs: int, draws: int, today: date, out: Path | None) -> int:
    """Exit 0 if every fault that changes anything is caught and false alarms are no more frequent than alpha, else 1.

    Raises:
        CannotJudgeError: the suite is not green as it is, so that a red with a fault in it would prove nothing.
    """
    chosen, _ = scored(selected(name, root, Options()), Options(), today)
    trials = score_trials(chosen.by_id, replay(chosen, jobs=jobs, fresh=False).traces)
    with _bench(chosen, trials, jobs) as bench:
        control = bench.run()
        if control.verdict.exit_code != EXIT_OK:
            raise CannotJudgeError(f"{name} must be green before faults are planted: {control.verdict.sentence}")
        unlike, total = _twice(bench)
    planted = _planted(chosen, trials, jobs)
    result = SelfTest(
        suite=chosen.suite.name,
        candidate=chosen.suite.candidate,
        reference=chosen.suite.reference,
        alpha=chosen.suite.gate.alpha,
        faults=planted,
        unlike=unlike,
        total=total,
        rates=_rates(chosen, draws),
    )
    folder = out or chosen.workspace.reports / "selftest"
    stored = json.dumps(result.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n"
    write_files(folder, {"index.html": render_selftest(result), "selftest.json": stored})
    _say(result, place_of(folder / "index.html", chosen.workspace.root))
    return EXIT_WORSE if result.complaints else EXIT_OK


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


def _planted(chosen: Selected, trials: tuple[Trial, ...], jobs: int) -> tuple[PlantedFault, ...]:
    """Plant each fault on a bench of its own, and see what the gate makes of it."""
    found = []
    with bar("planting", len(FAULTS)) as progress:
        for fault in FAULTS:
            progress.step(fault.name)
            with _bench(chosen, trials, jobs) as bench:
                run = fault.plant(bench)
            code = None if run is None else run.verdict.exit_code
            found.append(PlantedFault(name=fault.name, what=fault.what, said=_said(run), exit_code=code))
    return tuple(found)


def _said(run: Run | None) -> str:
    if run is None:
        return "changes no trace of this suite"
    decisive = [reason.kind for reason in run.verdict.reasons if reason.kind != "note"]
    return f"{run.verdict.status} ({run.verdict.exit_code}): {', '.join(dict.fromkeys(decisive)) or 'nothing'}"


def _rates(chosen: Selected, draws: int) -> tuple[RedRate, ...]:
    """False alarms and power, for as many cases as this suite has and for many."""
    drawn = [
        (cases, flips, churn)
        for cases in sorted({len(chosen.cases), MANY})
        for churn in (0.0, CHURN)
        for flips in (0, *FLIPS)
    ]
    rng = np.random.default_rng(SEED)
    with bar("drawing", len(drawn)) as progress:
        rates = []
        for cases, flips, churn in drawn:
            progress.step(f"{flips} flips in {cases} cases")
            rates.append(red_rate(cases, flips, churn, draws, chosen.suite.gate, rng))
    return tuple(rates)


def _say(result: SelfTest, report: str) -> None:
    console = wide_console()
    for view in (faults(result), power(result)):
        table = Table(title=view.caption)
        for heading in view.head:
            table.add_column(heading)
        for row in view.rows:
            table.add_row(*row)
        console.print(table)
    console.print(again(result))
    console.print(result.sentence, style="bold")
    console.print(f"Report: {report}", markup=False)
