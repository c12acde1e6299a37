"""A run, a trial and missing recordings printed in the terminal."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from evals.cli.terminal import ProgressBar, bar, place_of, shown, wide_console
from evals.models.run import Run
from evals.models.run_request import Options
from evals.models.trace import Trace
from evals.pipeline.load_run import selected
from evals.pipeline.run_suite import replay
from evals.report.numbers import rate
from evals.report.view.cost_tables import what_it_costs
from evals.report.view.headline import beaten, best_baseline, in_words
from evals.report.view.sections import section_tables
from evals.report.view.variant_tables import in_words as in_words_of_samples
from evals.report.view.variant_tables import redraws_in_words
from evals.report.view.violations_table import breach_table
from evals.run_context import RunContext
from evals.runner.trials import Trials
from evals.secrets.secret_filter import withheld_in

_STYLE: Final = {"not worse": "bold green", "worse": "bold red", "cannot judge": "bold yellow"}


def say_result(run: Run, rests_on: str, folder: Path, root: Path) -> None:
    """Everything the terminal shows of a run; `rests_on` is what it was made from, `folder` where its report is."""
    console = wide_console()
    console.print(_headline(run))
    console.print(shown(what_it_costs(run)))
    for table in section_tables(run, "numbers"):
        console.print(shown(table))
    reasons = breach_table(run)
    if reasons.rows:
        console.print(shown(reasons))
    if type(run) is not Run:
        _say_judge(console, run)
    for found in run.samples:
        console.print(in_words_of_samples(found), markup=False)
    if run.redraws:
        console.print(redraws_in_words(run), markup=False)
    if run.scope is not None:
        console.print(in_words(run.scope), markup=False)
    if withheld := withheld_in(folder / "run.json"):
        console.print(
            f"texts withheld from the report, for what looks like a secret in them: {withheld}", style="yellow"
        )
    say_verdict(console, run)
    console.print(f"{rests_on}. Report: {place_of(folder / 'index.html', root)}", markup=False)


def _say_judge(console: Console, run: Run) -> None:
    """What the suite's judge said, beside what that is worth."""
    from evals.models.judge import JudgedRun  # only where there is one: its models take a tenth of a second
    from evals.report.view.judge_view import judge_sentence, scores

    if isinstance(run, JudgedRun):
        console.print(shown(scores(run)))
        console.print(judge_sentence(run.judge), markup=False)


def say_verdict(console: Console, run: Run) -> None:
    """The sentence, every reason behind it, and the exit code."""
    verdict = run.verdict
    console.print(f"{verdict.sentence}", style=_STYLE[verdict.status], markup=False)
    for reason in verdict.reasons:
        console.print(f"  {reason.kind}: {reason.text}", markup=False)
    console.print(f"exit code {verdict.exit_code} ({verdict.status})", markup=False)


def _headline(run: Run) -> Table:
    """Variants by primary endpoints; every number with the cases it rests on."""
    primary = [scorer.name for scorer in run.scorers if scorer.primary]
    table = Table(title=escape(f"Suite {run.suite}, answered by {', '.join(run.recorded_by) or 'nobody yet'}"))
    for heading in ("variant", "exact trials", *primary):
        table.add_column(heading)
    rows = {(summary.variant, summary.scorer): summary for summary in run.summaries}
    for info in run.variants:
        name = info.variant.name
        coverage = run.coverage[name]
        table.add_row(
            escape(name), f"{coverage.exact}/{coverage.total}", *(rate(rows[name, scorer]) for scorer in primary)
        )
    if run.dataset_baselines:
        table.add_section()
        table.add_row(
            "no model at all", f"{len(run.cases)} cases", *(beaten(best_baseline(run, scorer)) for scorer in primary)
        )
    return table


class Watched:
    """A replay as somebody watches it: what `replay` tells goes to a bar, and is counted."""

    def __init__(self, progress: ProgressBar) -> None:
        self._bar = progress
        self._started = time.monotonic()
        self._done = self._reused = 0

    def __call__(self, trace: Trace, *, reused: bool, total: int) -> None:
        """One more trial of `total`."""
        self._done += 1
        self._reused += reused
        self._bar.of(total)
        self._bar.step(f"{trace.case_id} {trace.variant}: {trace.provenance}{' (reused)' if reused else ''}")

    @property
    def took(self) -> str:
        """What was done until now, and how long it took."""
        return f"{self._done} trials in {time.monotonic() - self._started:.1f} s, {self._reused} reused unchanged"


@contextmanager
def watched(label: str) -> Iterator[Watched]:
    """Progress to be handed to `replay` and `compare`, shown as long as the block lasts."""
    with bar(label, None) as progress:
        yield Watched(progress)


def replayed(chosen: RunContext, *, jobs: int) -> Trials:
    """All trials of a suite, as `replay` gives them."""
    with watched(f"replaying {chosen.suite.name}") as progress:
        return replay(chosen, jobs=jobs, progress=progress)


def replayed_suites(suites: Sequence[str], root: Path, *, jobs: int) -> list[tuple[RunContext, tuple[Trace, ...]]]:
    """Every suite with its traces; unchanged trials are reused.

    Raises:
        CannotJudgeError: a suite selects no case.
    """
    chosen = [selected(name, root, Options()) for name in suites]
    return [(each, replayed(each, jobs=jobs).traces) for each in chosen]
