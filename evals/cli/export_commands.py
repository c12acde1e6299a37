"""Commands that read a stored run: `report`, `explain`, `frame`, `schema`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from pydantic import BaseModel

from evals.cli.shared_options import HERE, LATEST, CaseId, Root, StoredRun
from evals.errors import EXIT_OK, ConfigurationError
from evals.models.analysis import Sweep
from evals.models.drift_result import Drift
from evals.models.history_result import History
from evals.models.run import Run
from evals.models.shard_file import Shard
from evals.report.run_files import write_report
from evals.report.stored_files import read_run

if TYPE_CHECKING:
    import pandas as pd


exporting = typer.Typer()


@exporting.command("report")
def report_command(
    run: StoredRun = LATEST,
    out: Annotated[Path | None, typer.Option(help="The folder to write; that of the run if not given.")] = None,
) -> int:
    """Write page, summary and JUnit file of a stored run anew; nothing is replayed, scored or judged."""
    folder = out or run.parent
    write_report(read_run(run), folder)
    print(f"Report: {folder / 'index.html'}")
    return EXIT_OK


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
    from evals.cli.analysis_commands import explain

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
    if out.suffix not in (".csv", ".parquet"):
        raise ConfigurationError(f"{out}: name a file that ends in .csv or .parquet")
    table = read_run(run).frame(by_decision=decisions)
    try:
        _write(table, out)
    except OSError as error:
        raise ConfigurationError(f"{out}: cannot be written ({error.strerror or error}); name another --out") from error
    print(f"{len(table)} rows in {out}")
    return EXIT_OK


@exporting.command("schema")
def schema_command(
    name: Annotated[
        str, typer.Argument(help="What to describe: run, sweep, shard, history or drift, as in run.json.")
    ] = "run",
) -> int:
    """Print the JSON Schema of what this version writes; docs/run-json.md explains the fields."""
    if name not in WRITTEN:
        raise ConfigurationError(f"no schema {name!r}; name one of {', '.join(WRITTEN)}")
    print(json.dumps(schema_of(WRITTEN[name]), indent=2, sort_keys=True))
    return EXIT_OK


def _write(table: "pd.DataFrame", out: Path) -> None:
    if out.suffix == ".csv":
        table.to_csv(out, index=False)
        return
    try:
        table.to_parquet(out, index=False)
    except ImportError as error:
        raise ConfigurationError(
            f"{out}: Parquet needs the extra: pip install 'triage-evals[parquet]', or name a .csv file"
        ) from error


WRITTEN: Final[dict[str, type[BaseModel]]] = {
    "run": Run,
    "sweep": Sweep,
    "shard": Shard,
    "history": History,
    "drift": Drift,
}
"""Name -> the model of `run.json`, `sweep.json`, the file of a shard, `history.json` and `drift.json`."""


def schema_of(model: type[BaseModel]) -> dict[str, object]:
    """The schema of files this version writes: every field is there, and the number of the schema is this one's."""
    made = model.model_json_schema(by_alias=True, mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}
