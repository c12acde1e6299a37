"""`evals frame`: a stored run as CSV, for notebooks."""

from pathlib import Path

from evals.errors import EXIT_OK, ConfigurationError
from evals.export.frame import frame as table_of
from evals.export.stored import read_run


def frame(run: Path, out: Path) -> int:
    """Write one row per trial and score.

    Raises:
        ConfigurationError: the run cannot be read, or the table cannot be written.
    """
    table = table_of(read_run(run))
    try:
        table.to_csv(out, index=False)
    except OSError as error:
        raise ConfigurationError(f"{out}: cannot be written ({error.strerror}); name another --out") from error
    print(f"{len(table)} rows in {out}")
    return EXIT_OK
