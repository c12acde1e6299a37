"""`evals bless`: the only thing that changes a baseline."""

from datetime import date
from pathlib import Path

from evals.cli.terminal.console import VisibleConsole
from evals.cli.terminal.replaying import replayed
from evals.errors import EXIT_OK
from evals.pipeline.bless import bless as blessed
from evals.pipeline.bless import counted
from evals.pipeline.load import loaded
from evals.pipeline.options import Options
from evals.pipeline.select import selected


def bless(name: str, root: Path, *, jobs: int, today: date) -> int:
    """Write the suite's present results as its baseline; held-out cases are no part of it. Returns 0."""
    chosen = loaded(selected(name, root, Options()), today, own_baseline=False)
    result, path = blessed(chosen, replayed(chosen, jobs=jobs))
    VisibleConsole(soft_wrap=True, highlight=False).print(
        f"Blessed {counted(result)} of {name}: review and commit {path.relative_to(chosen.workspace.root)}."
    )
    return EXIT_OK
