"""A trial on one screen: what does not fit into its lines is cut, and said to be."""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from evals.report.inert import visible
from evals.report.view.explain import Explanation, Step

LABEL: Final = 8
"""Columns for what a line is about."""
LINES: Final = 2
"""Lines of the terminal that one text may take; side by side, one more."""


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


def _step(steps: Sequence[Step], row: int, width: int, lines: int) -> Group | Text:
    if row >= len(steps):
        return Text("")
    step = steps[row]
    wrong = [Text(f"✗ {visible(step.wrong)}", style="bold red")] if step.wrong else []
    return Group(Text(visible(step.title), style="bold"), _lines(step.lines, width, lines), *wrong)


def _lines(told: Iterable[tuple[str, str]], width: int, lines: int) -> Table:
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(width=LABEL, style="dim")
    room = max(width - LABEL - 2, 10)
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
