"""The commands that turn results into tables: names, options and help texts."""

from pathlib import Path
from typing import Annotated

import typer

from evals.cli.options import LATEST, StoredRun

exporting = typer.Typer()


@exporting.command("report")
def report_command(
    run: StoredRun = LATEST,
    out: Annotated[Path | None, typer.Option(help="The folder to write; that of the run if not given.")] = None,
) -> int:
    """Write page, summary and JUnit file of a stored run anew; nothing is replayed, scored or judged."""
    from evals.cli.commands.report import report

    return report(run, out)


@exporting.command("frame")
def frame_command(
    run: StoredRun = LATEST,
    out: Annotated[Path, typer.Option(help="Where the table goes: a .csv or .parquet file.")] = Path("trials.csv"),
    decisions: Annotated[bool, typer.Option("--decisions", help="One row per decision of the supervisor.")] = False,
) -> int:
    """Write a stored run as a table with one row per trial and score. Parquet needs the extra `parquet` (pyarrow)."""
    from evals.cli.commands.frame import frame

    return frame(run, out, by_decision=decisions)


@exporting.command("schema")
def schema_command(
    name: Annotated[str, typer.Argument(help="What to describe: run (run.json), sweep (sweep.json) or shard.")] = "run",
) -> int:
    """Print the JSON Schema of what this version writes; docs/run-json.md explains the fields."""
    from evals.cli.commands.run_schema import schema

    return schema(name)


@exporting.command("score-localisation")
def score_localisation_command(
    gold: Annotated[Path, typer.Option(help="Rows of SWE-bench, of LocAgent's benchmark, or plain ones (see above).")],
    pred: Annotated[Path, typer.Option(help="LocAgent's output, or plain rows.")],
    k: Annotated[str, typer.Option(help="The ranks to look at, with commas between.")] = "1,3,5,10",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> int:
    """Score named files and functions against where the fixes were: any tool's output, no dataset needed.

    A plain row is {"instance_id": …, "files": […], "functions": […]}, best first. A function is `path::name` or
    `path:Class.method`. It is scored twice: by its outermost definition, as gold is labelled here (`Class.method`
    counts as `Class`; LocAgent's module level), and as a whole name (LocAgent's function level). `.__init__` counts as
    its class in both.
    """
    from evals.cli.commands.localisation import score_localisation

    return score_localisation(gold, pred, k, as_json=as_json)
