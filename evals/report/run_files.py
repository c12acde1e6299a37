"""The files a run, a sweep or a self-test leaves behind."""

import json
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import TypeVar

from evals.application_pack import HERE, load_pack
from evals.atomic_files import write_files
from evals.errors import ConfigurationError
from evals.models.base import Closed
from evals.models.run import FOREIGN_SCORERS, Run
from evals.paths import path_of_user
from evals.project import ANY_GRAPH
from evals.report.html_page import render
from evals.report.junit_xml import junit
from evals.report.recorded_calls import NONE, recorded_calls
from evals.report.summary_markdown import summary
from evals.secrets.secret_filter import held_back
from evals.workspace import Workspace


def write_report(run: Run, folder: Path | str, root: Path | str = HERE) -> None:
    """Write all files of a run, each whole or not at all; a text no cassette may hold is withheld in all of them. The
    models' raw answers come from the cassettes of the checkout at `root`, where they are still those of the run.

    Raises:
        ConfigurationError: the folder cannot be written.
    """
    if not isinstance(run, Run):
        raise ConfigurationError(f"write_report: {run!r:.60} is no run; `read_run` reads a run.json")
    place, checkout = path_of_user(folder, "folder"), path_of_user(root, "root")
    try:
        workspace = Workspace.at(checkout)
    except ConfigurationError:  # a run.json from elsewhere, read where no checkout is
        workspace = None
    write_fit(held_back(run, place), place, workspace)


def write_fit(run: Run, folder: Path, workspace: Workspace | None) -> None:
    """Write all files of a run that holds nothing to be withheld; `run.json`, the largest, is never one text."""
    write_files(folder, {**_pages(run, workspace), "run.json": chain(run.sealed().pieces(indent=1), "\n")})


def files_of(run: Run, workspace: Workspace | None = None) -> dict[str, str]:
    """The texts of a run's files, by name. They follow from the run and its cassettes."""
    return {**_pages(run, workspace), "run.json": "".join(run.sealed().pieces(indent=1)) + "\n"}


def _pages(run: Run, workspace: Workspace | None) -> dict[str, str]:
    pack, recorded = (workspace.pack, recorded_calls(run, workspace)) if workspace else (None, NONE)
    if run.digests.get("scorers") == FOREIGN_SCORERS:
        pack = load_pack(ANY_GRAPH)
    return {"index.html": render(run, pack, recorded), "summary.md": summary(run, pack), "junit.xml": junit(run)}


Told = TypeVar("Told", bound=Closed)


def write_sheet(told: Told, page: Callable[[Told], str], folder: Path, name: str, tape: Path) -> Told:
    """Write `index.html` and `<name>.json`; returns what they tell: a text that no cassette in the folder `tape` may
    hold is withheld.

    Raises:
        ConfigurationError: the folder cannot be written.
    """
    fit = held_back(told, tape)
    stored = json.dumps(fit.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n"
    write_files(folder, {"index.html": page(fit), f"{name}.json": stored})
    return fit
