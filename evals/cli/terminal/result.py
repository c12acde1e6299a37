"""A run in the terminal: the headline table, what it costs, the verdict and its reasons, where the report is."""

from pathlib import Path
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from evals.cassette.hold_back import withheld_in
from evals.cli.terminal.console import place_of, wide_console
from evals.cli.terminal.tables import shown
from evals.models.run import Run
from evals.report.numbers import rate
from evals.report.view.baselines import beaten, best_baseline
from evals.report.view.breaches import breach_table
from evals.report.view.costs import what_it_costs
from evals.report.view.published import published_table
from evals.report.view.samples import in_words as in_words_of_samples
from evals.report.view.samples import redraws_in_words
from evals.report.view.scope import in_words

_STYLE: Final = {"not worse": "bold green", "worse": "bold red", "cannot judge": "bold yellow"}


def say_result(run: Run, rests_on: str, folder: Path, root: Path) -> None:
    """Everything the terminal shows of a run; `rests_on` is what it was made from, `folder` where its report is."""
    console = wide_console()
    console.print(_headline(run))
    console.print(shown(what_it_costs(run)))
    if any(case.published for case in run.cases):
        console.print(shown(published_table(run)))
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
    from evals.models.judged import JudgedRun  # only where there is one: its models take a tenth of a second
    from evals.report.view.judge import scores, sentence

    if isinstance(run, JudgedRun):
        console.print(shown(scores(run)))
        console.print(sentence(run.judge), markup=False)


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
