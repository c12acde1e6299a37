"""A run, a trial and missing recordings printed in the terminal."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rich.console import Console, RenderableType

from evals.cli.terminal import ProgressBar, across, bar, place_of, shown, wide_console
from evals.models.forced_decision import decisive_lines
from evals.models.run import Comparison, Run
from evals.models.run_request import Options
from evals.models.trace import Trace
from evals.pipeline.load_suite import selected
from evals.pipeline.run_suite import replay
from evals.report.numbers import NOTHING, percent, points, short_rate
from evals.report.view import page_parts as view
from evals.report.view.headline_table import as_blessed, best_baseline, in_words, tools_that_ran
from evals.report.view.page_parts import section_tables
from evals.report.view.variant_tables import changes_table, redraws_in_words, what_it_costs
from evals.report.view.variant_tables import in_words as in_words_of_samples
from evals.report.view.violations_table import breach_table
from evals.run_context import RunContext
from evals.runner.trials import Trials
from evals.secret_filter import withheld_in
from evals.shared.display_text import counted

_STYLE: Final = {"not worse": "bold green", "worse": "bold red"}
_NEITHER: Final = "bold yellow"


REASONS: Final = 4
"""Reasons of a verdict that are printed; `--verbose` prints all."""
CHANGES: Final = 6
"""Rows of comparisons with the baseline, likewise."""
CHANGE: Final = ("points", "95 %", "worse", "better", "result")
FLOOR: Final = "floor (no model)"


def say_result(run: Run, rests_on: str, folder: Path, root: Path, *, verbose: bool = False) -> None:
    """What the terminal shows of a run: verdict, numbers, comparisons, and last the exit code. `rests_on` is what it
    was made from, `folder` where its report is; `verbose` adds the tables of cost and of violated constraints."""
    console = wide_console()
    say_verdict(console, run, most=None if verbose else REASONS)
    console.print()
    console.print(_numbers(run))
    console.print()
    _say_changes(console, run, most=None if verbose else CHANGES)
    if type(run) is not Run:
        _say_judge(console, run, verbose=verbose)
    for found in run.samples:
        console.print(in_words_of_samples(found), markup=False)
    for line in decisive_lines(run.trials):
        console.print(line, markup=False)
    if verbose:
        _say_more(console, run)
    if withheld := withheld_in(folder / "run.json"):
        console.print(
            f"texts withheld from the report, for what looks like a secret in them: {withheld}", style="yellow"
        )
    if run.scope is not None:
        console.print(in_words(run.scope), markup=False)
    page = place_of(folder / "index.html", root)
    opened = "evals view" if page == "reports/latest/index.html" else f"evals view {place_of(folder, root)}"
    more = "" if verbose else "; `--verbose` prints more"
    console.print(f"{rests_on}. Report: {page}; `{opened}` opens it{more}.", markup=False)
    say_exit_code(console, run)


def _say_more(console: Console, run: Run) -> None:
    """Tables that only `--verbose` prints."""
    for table in (across(what_it_costs(run)), *section_tables(run, "numbers"), breach_table(run)):
        if table.rows:
            console.print(shown(table))
    if run.redraws:
        console.print(redraws_in_words(run), markup=False)
    if ran := tools_that_ran(run):
        console.print(ran, markup=False)


def _say_judge(console: Console, run: Run, *, verbose: bool) -> None:
    """What the suite's judge said, beside what that is worth."""
    from evals.models.judge import JudgedRun  # only where there is one: its models take a tenth of a second
    from evals.report.view.judge_view import judge_sentence, scores

    if isinstance(run, JudgedRun):
        if verbose:
            console.print(shown(scores(run)))
        console.print(judge_sentence(run.judge), markup=False)


def say_verdict(console: Console, run: Run, most: int | None = None) -> None:
    """The sentence, and the reasons it does not quote; `most` of them (None: all)."""
    verdict = run.verdict
    console.print(verdict.sentence, style=_STYLE.get(verdict.status, _NEITHER), markup=False)
    reasons = [reason for reason in verdict.reasons if reason.text not in verdict.sentence]
    for reason in reasons[:most]:
        console.print(f"- {reason.kind}: {reason.text}", markup=False)
    if hidden := len(reasons[most:]) if most else 0:
        console.print(f"- and {hidden} more in the report")


def say_exit_code(console: Console, run: Run) -> None:
    """The last line of a command that judges."""
    console.print(f"exit code {run.verdict.exit_code} ({run.verdict.status})", markup=False)


def _numbers(run: Run) -> RenderableType:
    """Variants by primary metrics; how many cases were scored is told where it is not all of them."""
    primary = [scorer.name for scorer in run.scorers if scorer.primary]
    cells = {(summary.variant, summary.scorer): summary for summary in run.summaries}
    parts = {run.candidate: " (candidate)", run.reference: " (reference)"} if run.candidate != run.reference else {}
    rows = []
    for name in (info.variant.name for info in run.variants):
        covered = f"{run.coverage[name].exact}/{run.coverage[name].total}"
        rows.append((f"{name}{parts.get(name, '')}", covered, *(short_rate(cells[name, scorer]) for scorer in primary)))
    if run.dataset_baselines:
        floors = [best_baseline(run, scorer) for scorer in primary]
        rows.append((FLOOR, "", *(percent(floor.share) if floor else "" for floor in floors)))
    answered = ", ".join(run.recorded_by) or "nobody yet"
    table = view.Table(f"Suite {run.suite}, answered by {answered}", ("variant", "recorded", *primary), tuple(rows))
    return shown(across(table) if len(primary) > len(rows) else table)


def _say_changes(console: Console, run: Run, most: int | None) -> None:
    """Candidate against reference on every primary metric; then `most` of the differences from the baseline, and who
    has none."""
    other = [item for item in run.comparisons if item.against == "reference" and item.left == run.candidate and item.n]
    since = [item for item in run.comparisons if item.against == "baseline"]
    if run.changes:
        console.print(shown(changes_table(run, most)))
    differing = [item for item in since if item.n and not as_blessed(item)]
    if other:
        rows = tuple(_change(item.endpoint, item) for item in other)
        console.print(shown(view.Table("", (f"{run.candidate} against {run.reference}", *CHANGE), rows)))
    if differing:
        rows = tuple(_change(f"{item.left}: {item.endpoint}", item) for item in differing[:most])
        console.print(shown(view.Table("", ("since the baseline", *CHANGE), rows)))
    if hidden := len(differing[most:]) if most else 0:
        console.print(f"and {hidden} more in the report")
    changed = {item.left for item in since if not as_blessed(item)}
    if same := [name for name in dict.fromkeys(item.left for item in since) if name not in changed]:
        console.print(f"Primary metrics are as blessed in every case: {', '.join(same)}.", markup=False)


def _change(what: str, item: Comparison) -> tuple[str, ...]:
    known = item.low is not None and item.high is not None
    interval = f"{points(item.low)} to {points(item.high)}" if known else NOTHING
    result = f"{item.verdict} so far" if item.n < item.of else item.verdict
    return what, points(item.delta), interval, str(len(item.broke)), str(len(item.mended)), result


class Watched:
    """A replay as somebody watches it: what `replay` tells goes to a bar, and is counted."""

    def __init__(self, progress: ProgressBar) -> None:
        self._bar = progress
        self._started = time.monotonic()
        self._done = self._reused = self._before = 0

    def __call__(self, trace: Trace, *, reused: bool, total: int) -> None:
        """One more trial of `total`, of this replay; several may follow each other."""
        self._done += 1
        self._reused += reused
        self._bar.of(self._before + total)
        self._before += total if self._done == self._before + total else 0
        self._bar.step(f"{trace.case_id} {trace.variant}: {trace.provenance}{' (reused)' if reused else ''}")

    @property
    def took(self) -> str:
        """What was done until now, and how long it took."""
        took = time.monotonic() - self._started
        return f"{counted(self._done, 'trial')} in {took:.1f} s, {self._reused} reused unchanged"


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
