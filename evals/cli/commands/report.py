"""`evals report`: the files of a stored run, written anew; nothing is replayed, scored or judged."""

from pathlib import Path

from evals.errors import EXIT_OK
from evals.export.files import write_report
from evals.export.stored import read_run


def report(run: Path, out: Path | None) -> int:
    """Write page, summary, JUnit and JSON below `out`, or beside the run.

    Raises:
        ConfigurationError: the run cannot be read, or the folder cannot be written.
    """
    folder = out or run.parent
    write_report(read_run(run), folder)
    print(f"Report: {folder / 'index.html'}")
    return EXIT_OK
