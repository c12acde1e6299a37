"""`evals dataset baselines`: what is reached without any model, and whether that is little enough."""

import json
import sys
from pathlib import Path

from rich.table import Table

from evals.cli.terminal.console import VisibleConsole
from evals.dataset.checks.balance import LIMITS
from evals.dataset.kinds import kind_baselines
from evals.dataset.load import load_cases
from evals.errors import EXIT_OK
from evals.models.run import DatasetBaseline
from evals.pipeline.judge import dataset_baselines
from evals.report.numbers import percent
from evals.workspace import Workspace

WIDTH = 160  # of a log file: the routes have to fit


def baselines(root: Path, dataset: Path | None = None, *, as_json: bool = False) -> int:
    """Print every baseline over the whole dataset, beside its target where it has one. Returns 0.

    Raises ConfigurationError, DatasetError.
    """
    workspace = Workspace.at(root, dataset)
    cases = list(load_cases(workspace.datasets).values())
    found = [*kind_baselines(cases, workspace.cache), *dataset_baselines(cases, workspace)]
    if as_json:
        print(json.dumps([item.model_dump(mode="json") for item in found], indent=2))
        return EXIT_OK
    VisibleConsole(width=None if sys.stdout.isatty() else WIDTH).print(_table(found))
    return EXIT_OK


def _table(found: list[DatasetBaseline]) -> Table:
    table = Table(
        title="what needs no model", caption="route.pass counts every case twice: unsure (0.7) and sure (0.9)"
    )
    for heading in ("endpoint", "baseline", "share", "of", "target", "definition", "chosen"):
        table.add_column(heading, overflow="fold")
    for item in found:
        table.add_row(
            item.endpoint, item.name, percent(item.share), str(item.n), _target(item), item.definition, item.detail
        )
    return table


def _target(item: DatasetBaseline) -> str:
    """The highest share a dataset should leave to this router, and whether it does."""
    if item.name == "oracle":
        return f"100 %: {'met' if item.share == 1 else 'missed'}"
    target = LIMITS.get(item.name)
    if target is None:
        return ""
    return f"at most {percent(target)}: {'met' if item.share <= target else 'missed'}"
