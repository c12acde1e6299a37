"""Tables of the report, in the terminal."""

from rich.markup import escape
from rich.table import Table

from evals.report.view import table as view


def shown(ready: view.Table, *, lines: bool = False) -> Table:
    """A table of the report in the terminal, its caption above; with `lines` between rows of several lines."""
    table = Table(title=escape(ready.caption), show_lines=lines)
    for heading in ready.head:
        table.add_column(escape(heading), overflow="fold")  # a name that is cut is no name
    for row in ready.rows:
        table.add_row(*map(escape, row))
    return table
