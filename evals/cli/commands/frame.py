"""`evals frame`: a stored run as CSV, for notebooks."""

from pathlib import Path

from evals.errors import EXIT_OK
from evals.export.frame import frame as table_of
from evals.export.frame import read_run


def frame(run: Path, out: Path) -> int:
    """Write one row per trial and score."""
    table_of(read_run(run)).to_csv(out, index=False)
    return EXIT_OK
