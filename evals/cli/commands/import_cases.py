"""`evals dataset import`: foreign issues become cases of a dataset of their own."""

from pathlib import Path
from typing import cast

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evals.cli.terminal.console import VisibleConsole
from evals.dataset.clone import Clones
from evals.dataset.importers import IMPORTERS
from evals.dataset.importers.attach import attached
from evals.dataset.importers.found import Source
from evals.dataset.importers.write import REPORT, ImportReport, write_dataset
from evals.dataset.layout import Layout
from evals.errors import EXIT_OK, ConfigurationError
from evals.workspace import Workspace


def import_cases(
    source: str, path: Path, out: Path, root: Path, repos: Path | None = None, console: Console | None = None
) -> int:
    """Import what `path` holds into the new folder `out`, with the code of rows whose repository has a clone below
    `repos`; print what became of every row. Returns 0.

    Raises:
        ConfigurationError: there is no such source or folder of clones, or `out` is there and not empty.
        DatasetError: `path` cannot be read, or no row of it became a case.
    """
    if source not in IMPORTERS:
        raise ConfigurationError(f"cannot import {source!r}; it is one of {', '.join(IMPORTERS)}")
    known = cast("Source", source)
    workspace = Workspace.at(root)
    clones = None if repos is None else Clones.below(repos)
    found = attached(IMPORTERS[known](path), clones, workspace.cache)
    report = write_dataset(found, known, Layout(workspace.datasets).policy, out)
    console = console or VisibleConsole(soft_wrap=True, highlight=False)
    table = _table(report)
    console.print(table if table.rows else table.title)
    console.print(_summary(report, out), markup=False)
    return EXIT_OK


def _table(report: ImportReport) -> Table:
    """A line per refused row, and per imported one that wants a remark."""
    table = Table(title=f"imported {len(report.imported)}, skipped {len(report.skipped)}")
    for heading in ("row", "name", "became", "why, or what to know"):
        table.add_column(heading, overflow="fold")
    for skipped in report.skipped:
        table.add_row(skipped.row, _plain(skipped.name), "skipped", _plain(skipped.why))
    for imported in report.imported:
        for note in imported.notes:
            table.add_row(imported.row, _plain(imported.name), imported.id, _plain(note))
    return table


def _summary(report: ImportReport, out: Path) -> str:
    without = sum("gold" in one.unlabelled for one in report.imported)
    vague = sum("functions" in one.unlabelled for one in report.imported) - without
    said = f"Gold files: {len(report.imported) - without} cases; without gold: {without}; "
    coded = sum(one.base_commit is not None for one in report.imported)
    said += f"functions not stated: {vague}; with their code: {coded} of {len(report.imported)}."
    return f"{said}\nWritten: {out}, with {REPORT}. Use it with --dataset {out}."


def _plain(text: str) -> Text:
    """Foreign text, without anything that a terminal would obey."""
    return Text("".join(letter if letter.isprintable() else "?" for letter in text))
