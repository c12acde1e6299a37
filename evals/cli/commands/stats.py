"""`evals dataset stats`: how many cases of which kind there are."""

from pathlib import Path

from rich.console import Console, Group
from rich.table import Table

from evals.cli.terminal.console import VisibleConsole
from evals.dataset.census import SPLITS, Census, census
from evals.dataset.load import load_cases
from evals.errors import EXIT_OK
from evals.workspace import Workspace


def stats(root: Path, dataset: Path | None = None, *, as_json: bool = False, console: Console | None = None) -> int:
    """Print the counts as tables, or as JSON. Returns 0; raises ConfigurationError, DatasetError."""
    counted = census(load_cases(Workspace.at(root, dataset).datasets).values())
    if as_json:
        print(counted.model_dump_json(indent=2))
    else:
        (console or VisibleConsole()).print(Group(_archetypes(counted), _slices(counted)))
    return EXIT_OK


def _archetypes(counted: Census) -> Table:
    points = f"{counted.decision_points} decision points"
    table = Table(title=f"{counted.cases} cases, {counted.clusters} clusters, {points}", show_footer=True)
    table.add_column("archetype", "all")
    for split in SPLITS:
        table.add_column(split, _share(counted.splits[split], counted.cases), justify="right")
    table.add_column("all", str(counted.cases), justify="right")
    for archetype, row in counted.archetypes.items():
        table.add_row(archetype, *(_count(row[split]) for split in SPLITS), str(sum(row.values())))
    return table


def _slices(counted: Census) -> Table:
    table = Table()
    for heading in ("slice", "value", "count"):
        table.add_column(heading, justify="right" if heading == "count" else "left")
    best = {str(choice): count for choice, count in counted.best_answers.items()}
    for name, rows in {**counted.slices, "twins": counted.twins, "best next node": best}.items():
        for value, count in rows.items():
            table.add_row(name, value, str(count))
        table.add_section()
    return table


def _count(number: int) -> str:
    return str(number) if number else ""


def _share(count: int, total: int) -> str:
    return f"{count} ({count / total:.0%})" if total else "0"
