"""The commands that turn results into pages and tables: names, options and help texts."""

from pathlib import Path
from typing import Annotated

import typer

from evals.cli.options import HERE, LATEST, CaseId, Root, StoredRun
from evals.errors import ConfigurationError

exporting = typer.Typer()


@exporting.command("report")
def report_command(
    run: StoredRun = LATEST,
    out: Annotated[Path | None, typer.Option(help="The folder to write; that of the run if not given.")] = None,
) -> int:
    """Write page, summary and JUnit file of a stored run anew; nothing is replayed, scored or judged."""
    from evals.cli.commands.report import report

    return report(run, out)


@exporting.command("history")
def history_command(
    suite: Annotated[
        str, typer.Argument(help="A suite by name, also one that is gone from the checkout, or a suite file.")
    ] = "prompts",
    bisect: Annotated[
        str | None, typer.Option(metavar="CASE", help="Only say at which commit this case turned.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where the page goes; reports/history if not given.")] = None,
    root: Root = HERE,
) -> int:
    """How a suite went: every blessed baseline out of git, as a table, a page, JSON and a badge; nothing is run.

    Exit codes: 2 no git, no repository or no such case; 3 no baseline was ever committed, or git cannot tell.
    """
    from evals.cli.commands.history import bisect as find_turn
    from evals.cli.commands.history import history

    return find_turn(suite, bisect, root) if bisect is not None else history(suite, root, out=out)


@exporting.command("explain")
def explain_command(
    case: CaseId,
    variant: Annotated[
        str | None, typer.Option(help="Under which variant; the suite's candidate if not given.")
    ] = None,
    diff: Annotated[
        tuple[str, str] | None, typer.Option(metavar="A B", help="Two variants side by side, instead of one.")
    ] = None,
    suite: Annotated[str, typer.Option(help="Whose variants and models to use.")] = "prompts",
    root: Root = HERE,
) -> int:
    """One trial on one screen: what was known at each step, what was chosen and why, and what the label wanted."""
    from evals.cli.commands.explain import explain

    if variant is not None and diff is not None:
        raise ConfigurationError("--variant names one variant and --diff two; leave one of them out")
    return explain(case, diff or ((variant,) if variant else ()), suite, root)


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
    name: Annotated[
        str, typer.Argument(help="What to describe: run, sweep, shard, history or drift, as in run.json.")
    ] = "run",
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
