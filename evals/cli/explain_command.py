"""`evals explain`: one trial on one screen, or two side by side."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Final

import typer
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from evals.cli.options import CaseId, given
from evals.cli.terminal import wide_console
from evals.comparison.divergences import diverge
from evals.errors import EXIT_OK, ConfigurationError
from evals.models.trace import Trace
from evals.pipeline.single_trial import explain as explained
from evals.report.view.trial_explanation import ExplainedStep, Explanation, explanation, wanted
from evals.shared.display_text import visible

explaining = typer.Typer()
LABEL: Final = (10, 20)
"""Columns for what a line is about: at least, and at most."""
LINES: Final = 2
"""Lines of the terminal that one text may take; side by side, one more."""


@explaining.command("explain")
def explain_command(
    context: typer.Context,
    case: CaseId,
    variant: Annotated[str | None, typer.Option(help="Default: the suite's candidate.")] = None,
    diff: Annotated[tuple[str, str] | None, typer.Option(metavar="A B", help="Two variants side by side.")] = None,
    suite: Annotated[str, typer.Option(help="Suite with the variants and models.")] = "prompts",
) -> int:
    """Print one trial: what was known at each step, what was chosen and why, and what the label requires."""
    if variant is not None and diff is not None:
        raise ConfigurationError("--variant names one variant and --diff two; leave one of them out")
    console = wide_console()
    found = explained(case, diff or ((variant,) if variant else ()), suite, given(context).root)
    console.print(Text(visible(f"{found.case.id} (suite {found.suite}): {found.case.title}"), style="bold"))
    say_explained(console, wanted(found.case), [explanation(each, found.case, found.changes) for each in found.trials])
    if len(found.trials) == 2:
        console.print(_parted(*(trial.trace for trial in found.trials)), markup=False)
    return EXIT_OK


def say_explained(console: Console, wanted: Sequence[tuple[str, str]], told: Sequence[Explanation]) -> None:
    """The label's side, then the trials: one below the other where there is one, else side by side."""
    console.print(_heading("The label wants"))
    console.print(_lines(wanted, console.width, LINES))
    lines = LINES if len(told) == 1 else LINES + 1
    width = console.width if len(told) == 1 else (console.width - 2) // len(told)
    columns = Table.grid(padding=(0, 2, 0, 0), pad_edge=False)
    for _ in told:
        columns.add_column(width=width)
    columns.add_row(*(_heading(f"{each.variant}: {each.provenance}") for each in told))
    for row in range(max(len(each.steps) for each in told)):
        columns.add_row(*(_step(each.steps, row, width, lines) for each in told))
    columns.add_row(*(Group(_heading("What came of it"), _lines(each.outcome, width, lines)) for each in told))
    console.print(columns)


def _step(steps: Sequence[ExplainedStep], row: int, width: int, lines: int) -> Group | Text:
    if row >= len(steps):
        return Text("")
    step = steps[row]
    wrong = [Text(f"✗ {visible(step.wrong)}", style="bold red")] if step.wrong else []
    return Group(Text(visible(step.title), style="bold"), _lines(step.lines, width, lines), *wrong)


def _lines(told: Iterable[tuple[str, str]], width: int, lines: int) -> Table:
    told = list(told)
    least, most = LABEL
    label = min(max(least, *(2 + len(what) for what, _ in told)), most) if told else least
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(width=label, style="dim")
    room = max(width - label - 2, 10)
    table.add_column(width=room)
    for what, text in told:
        table.add_row(Text(f"  {what}"), _cut(text, room, lines))
    return table


def _cut(text: str, width: int, lines: int) -> Text:
    """The text on a line, then on as many as there may be; an ellipsis where more was there."""
    found = Text(visible(" ".join(text.split())))
    found.truncate((width - 4) * lines, overflow="ellipsis")  # room for words that do not fit at a line's end
    return found


def _heading(text: str) -> Text:
    return Text(visible(text), style="bold underline")


def _parted(was: Trace, now: Trace) -> str:
    """First divergence between two trials, as a sentence."""
    parted = diverge(was, now)
    if parted is None:
        return f"{now.variant} takes the same route as {was.variant}, as far as both are recorded."
    return f"{now.variant} differs from {was.variant} at decision {parted.decision + 1}: {parted.what}."
