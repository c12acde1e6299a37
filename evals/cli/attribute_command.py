"""`evals attribute`: what each hunk between two versions of a prompt did."""

from pathlib import Path
from typing import Annotated

import typer

from evals.cli.options import given
from evals.cli.run_output import watched
from evals.cli.terminal import place_of, shown, wide_console
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK
from evals.models.run_request import RunRequest
from evals.pipeline.attribute_hunks import attribute
from evals.prices import load_prices
from evals.report.html_page import render_sheet
from evals.report.run_files import write_sheet
from evals.report.view.attribution_page import attribution_page
from evals.workspace import Workspace

attributing = typer.Typer()
Version = Annotated[str, typer.Argument(help="A variant of the suite, a prompt version or file (.md), or git:REV:v3.")]


@attributing.command("attribute")
def attribute_command(
    context: typer.Context,
    old: Version,
    new: Version,
    suite: Annotated[str, typer.Option(help="Suite with the cases and models.")] = "prompts",
    taken_out: Annotated[bool, typer.Option("--taken-out", help="Also remove each hunk from the new version.")] = False,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Also add two hunks at once, if no single one gives the new choice.")
    ] = False,
    trials: Annotated[
        bool, typer.Option("--trials", help="Also run whole trials, of the cases whose routes differ.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Folder of the page (default: reports/attribute).")] = None,
) -> int:
    """Which lines changed the decisions? Where decisions differ, it replays the old version with each hunk alone.

    Only single decisions in saved states (decision points) are asked again; for your own graph, `evals points SUITE`
    saves these states. If answers are missing, the command that records them is printed.

    Example: `evals attribute v3 v5`.

    Exit codes: 0: all is recorded; 3: missing answers, no decision points, or missing trials of a version.
    """
    common, prices = given(context), load_prices(given(context).prices)
    also = [name for name, asked in (("taken_out", taken_out), ("pairs", pairs), ("trials", trials)) if asked]
    request = RunRequest(suite, common.root, jobs=common.jobs)
    with watched(f"attributing {old} to {new}") as progress:
        found = attribute((old, new), request, also, prices, progress)
    workspace = Workspace.at(common.root)
    folder = out or workspace.reports / "attribute"
    found = write_sheet(
        found,
        lambda page: render_sheet("attribution", attribution_page(page), "attribution.css"),
        folder,
        "attribution",
        workspace.cassettes,
    )
    page, console = attribution_page(found), wide_console()
    console.print(page.sentence, style="bold", markup=False)
    for table in page.tables:
        console.print(shown(table))
    for line in (*page.notes, f"Report: {place_of(folder / 'index.html', workspace.root)}"):
        console.print(line, markup=False)
    for file in found.unrecorded:
        console.print(f"Record what is missing (`evals plan {file}` says what it takes):", markup=False)
        console.print(f"  evals record {file}", markup=False)
    return EXIT_CANNOT_JUDGE if found.missing else EXIT_OK
