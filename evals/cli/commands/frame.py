"""`evals frame`: a stored run as CSV or Parquet, for notebooks."""

from pathlib import Path
from typing import TYPE_CHECKING

from evals.errors import EXIT_OK, ConfigurationError
from evals.export.stored import read_run

if TYPE_CHECKING:
    import pandas as pd


def frame(run: Path, out: Path, *, by_decision: bool = False) -> int:
    """Write one row per trial and score, or one per decision; the name's ending says in which format.

    Raises:
        ConfigurationError: the run cannot be read, the format is neither, or the table cannot be written.
    """
    if out.suffix not in (".csv", ".parquet"):
        raise ConfigurationError(f"{out}: name a file that ends in .csv or .parquet")
    stored = read_run(run)
    table = stored.frame(by_decision=by_decision)
    try:
        _write(table, out)
    except OSError as error:
        raise ConfigurationError(f"{out}: cannot be written ({error.strerror or error}); name another --out") from error
    print(f"{len(table)} rows in {out}")
    return EXIT_OK


def _write(table: "pd.DataFrame", out: Path) -> None:
    if out.suffix == ".csv":
        table.to_csv(out, index=False)
        return
    try:
        table.to_parquet(out, index=False)
    except ImportError as error:
        raise ConfigurationError(
            f"{out}: Parquet needs pyarrow; `.venv/bin/pip install pyarrow`, or name a .csv file"
        ) from error
