"""`evals run`: replay, score, judge, write the report, and exit with the verdict's code."""

import sys
import time
from datetime import date
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from evals.cli.commands.annotate import annotate
from evals.cli.commands.execute import baseline_of, finished, replay
from evals.cli.commands.selection import Options, Selected, scored, selected
from evals.export.files import write_run
from evals.models.run import Baseline, Run, Scope
from evals.report.numbers import rate
from evals.report.view import table as view
from evals.report.view.baselines import beaten, best_baseline
from evals.report.view.breaches import breach_table
from evals.report.view.costs import what_it_costs
from evals.report.view.samples import in_words as in_words_of_samples
from evals.report.view.scope import in_words
from evals.runner.pool import Trials
from evals.runner.scheduler import LOCAL
from evals.runner.task import TRIAL_TIMEOUT

WIDTH = 120  # of a log file, which has no width of its own
_STYLE = {"not worse": "bold green", "worse": "bold red", "cannot judge": "bold yellow"}


def run(
    name: str,
    root: Path,
    options: Options,
    *,
    jobs: int,
    fresh: bool,
    trial_timeout: float,
    out: Path | None,
    today: date,
    annotations: bool = False,
    scheduler: str = LOCAL,
) -> int:
    """Run a suite and write its report; the exit code is the verdict's."""
    chosen, scope = scored(selected(name, root, options), options, today)
    baseline = None if options.changed else baseline_of(chosen)  # a broken one is said before the work, not after
    folder = out or chosen.workspace.reports / "latest"
    result = judged(
        chosen,
        scope,
        options,
        baseline,
        wants=not options.changed,
        jobs=jobs,
        fresh=fresh,
        folder=folder,
        trial_timeout=trial_timeout,
        scheduler=scheduler,
    )
    annotate(result, chosen.workspace.root, asked=annotations)
    return result.verdict.exit_code


def judged(
    chosen: Selected,
    scope: Scope,
    options: Options,
    baseline: Baseline | None,
    *,
    wants: bool,
    jobs: int,
    fresh: bool,
    folder: Path,
    trial_timeout: float = TRIAL_TIMEOUT,
    scheduler: str = LOCAL,
) -> Run:
    """Replay what was chosen, judge it, write and print the result; `wants` as in `finished`."""
    started = time.monotonic()
    trials = replay(chosen, jobs=jobs, fresh=fresh, trial_timeout=trial_timeout, scheduler=scheduler)
    result = delivered(chosen, scope, options, trials, baseline, wants=wants, folder=folder)
    took = f"{time.monotonic() - started:.1f} s, {trials.reused} reused unchanged"
    say_report(f"{len(trials.traces)} trials in {took}", folder, chosen.workspace.root)
    return result


def delivered(
    chosen: Selected,
    scope: Scope,
    options: Options,
    trials: Trials,
    baseline: Baseline | None,
    *,
    wants: bool,
    folder: Path,
) -> Run:
    """Judge finished trials, write and print the result; `wants` as in `finished`."""
    result = finished(chosen, scope, options, trials, baseline, wants=wants)
    write_run(result, folder)
    _say(wide_console(), result)
    return result


def say_report(rests_on: str, folder: Path, root: Path) -> None:
    """The closing line: what the result was made from, and where the report is."""
    wide_console().print(f"{rests_on}. Report: {place_of(folder / 'index.html', root)}", markup=False)


def wide_console() -> Console:
    """Standard output as wide as the terminal, or as a log file should be."""
    return Console(soft_wrap=True, highlight=False, width=None if sys.stdout.isatty() else WIDTH)


def _say(console: Console, run: Run) -> None:
    """The headline table, what it costs, then the verdict and its reasons."""
    console.print(headline(run))
    console.print(shown(what_it_costs(run)))
    reasons = breach_table(run)
    if reasons.rows:
        console.print(shown(reasons))
    for found in run.samples:
        console.print(in_words_of_samples(found), markup=False)
    if run.scope is not None:
        console.print(in_words(run.scope), markup=False)
    say_verdict(console, run)


def say_verdict(console: Console, run: Run) -> None:
    """The sentence, every reason behind it, and the exit code."""
    verdict = run.verdict
    console.print(f"{verdict.sentence}", style=_STYLE[verdict.status], markup=False)
    for reason in verdict.reasons:
        console.print(f"  {reason.kind}: {reason.text}", markup=False)
    console.print(f"exit code {verdict.exit_code} ({verdict.status})", markup=False)


def headline(run: Run) -> Table:
    """Variants by primary endpoints; every number with the cases it rests on."""
    primary = [scorer.name for scorer in run.scorers if scorer.primary]
    table = Table(title=f"Suite {run.suite}, answered by {', '.join(run.recorded_by) or 'nobody yet'}")
    for heading in ("variant", "exact trials", *primary):
        table.add_column(heading)
    rows = {(summary.variant, summary.scorer): summary for summary in run.summaries}
    for info in run.variants:
        name = info.variant.name
        coverage = run.coverage[name]
        table.add_row(name, f"{coverage.exact}/{coverage.total}", *(rate(rows[name, scorer]) for scorer in primary))
    if run.dataset_baselines:
        table.add_section()
        table.add_row(
            "no model at all", f"{len(run.cases)} cases", *(beaten(best_baseline(run, scorer)) for scorer in primary)
        )
    return table


def shown(ready: view.Table, *, lines: bool = False) -> Table:
    """A table of the report in the terminal, its caption above; with `lines` between rows of several lines."""
    table = Table(title=escape(ready.caption), show_lines=lines)
    for heading in ready.head:
        table.add_column(escape(heading), overflow="fold")  # a name that is cut is no name
    for row in ready.rows:
        table.add_row(*map(escape, row))
    return table


def place_of(path: Path, root: Path) -> str:
    """A path as short as the checkout allows."""
    full = path.resolve()
    return full.relative_to(root).as_posix() if full.is_relative_to(root) else str(path)
