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


def bless(name: str, root: Path, *, jobs: int, today: date, worse: str | None = None) -> int:
    """Write the suite's present results as its baseline; held-out cases are no part of it. `worse` is the reason for
    blessing what is worse. Returns 0."""
    chosen = loaded(selected(name, root, Options()), today, own_baseline=False)
    found = blessed(chosen, replayed(chosen, jobs=jobs), worse)
    console = VisibleConsole(soft_wrap=True, highlight=False)
    for loss in found.losses:
        console.print(f"accepted: {loss}", markup=False)
    if worse is not None and not found.losses:
        console.print("Nothing is worse; the reason is not kept.")
    console.print(
        f"Blessed {counted(found.run)} of {name}: review and commit {found.path.relative_to(chosen.workspace.root)}."
    )
    return EXIT_OK
