"""The folder a run leaves behind: `index.html`, `run.json`, `summary.md`, `junit.xml`."""

from itertools import chain
from pathlib import Path

from evals.cassette.hold_back import held_back
from evals.export.folder import write_files
from evals.export.junit import junit
from evals.export.markdown import summary
from evals.models.run import Run
from evals.report.render import render


def write_report(run: Run, folder: Path) -> None:
    """Write all files of a run, each whole or not at all; a text no cassette may hold is withheld in all of them.

    Raises:
        ConfigurationError: the folder cannot be written.
    """
    write_fit(held_back(run, folder), folder)


def write_fit(run: Run, folder: Path) -> None:
    """Write all files of a run that holds nothing to be withheld; `run.json`, the largest, is never one text."""
    write_files(folder, {**_pages(run), "run.json": chain(run.sealed().pieces(indent=1), "\n")})


def files_of(run: Run) -> dict[str, str]:
    """The texts of a run's files, by name. They follow from the run."""
    return {**_pages(run), "run.json": "".join(run.sealed().pieces(indent=1)) + "\n"}


def _pages(run: Run) -> dict[str, str]:
    return {"index.html": render(run), "summary.md": summary(run), "junit.xml": junit(run)}
