"""Commands on a stored run: `report`, `schema`, and `view`, which opens a report or serves it on this machine."""

import json
import os
import sys
import webbrowser
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from pydantic import BaseModel

from evals.application_pack import load_pack
from evals.cli.options import StoredRun, given
from evals.errors import EXIT_OK, ConfigurationError
from evals.models.analysis_results import Drift, History
from evals.models.run import Run
from evals.models.run_request import Shard
from evals.project import Project
from evals.report.run_files import read_run, write_report

if TYPE_CHECKING:
    import pandas as pd

exporting = typer.Typer()


@exporting.command("report")
def report_command(
    context: typer.Context,
    run: StoredRun = None,
    out: Annotated[Path | None, typer.Option(help="A folder (default: the run's), or a .csv or .parquet file.")] = None,
    decisions: Annotated[bool, typer.Option("--decisions", help="In a table: one row per decision.")] = False,
) -> int:
    """Write page, summary and JUnit file of a stored run again; nothing is replayed, scored or judged.

    --out FILE.csv or FILE.parquet writes a table: a row per trial and metric. Parquet needs the extra `parquet`.
    """
    path = given(context).stored(run)
    if out is not None and out.suffix in (".csv", ".parquet"):
        return _table(path, out, by_decision=decisions)
    if out is not None and out.suffix[1:].isalpha() and not out.is_dir():
        raise ConfigurationError(f"{out}: name a folder, or a file that ends in .csv or .parquet")
    if decisions:
        raise ConfigurationError("--decisions: of a table; name a file with --out that ends in .csv or .parquet")
    folder = out or path.parent
    write_report(read_run(path), folder, given(context).root)
    print(f"Report: {folder / 'index.html'}")
    return EXIT_OK


def _table(run: Path, out: Path, *, by_decision: bool) -> int:
    table = read_run(run).frame(by_decision=by_decision)
    try:
        _write(table, out)
    except OSError as error:
        raise ConfigurationError(f"{out}: cannot be written ({error.strerror or error}); name another --out") from error
    print(f"{len(table)} rows in {out}")
    return EXIT_OK


@exporting.command("schema")
def schema_command(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(help="What to describe: run, sweep, shard, history or drift, as in run.json; or case.")
    ] = "run",
) -> int:
    """Print the JSON Schema of what this version writes, or of a case; docs/run-json.md explains the fields."""
    root = given(context).root
    pack = load_pack(Project.at(root).pack, root)
    written = {**WRITTEN, **pack.written}
    if name == "case":
        print(json.dumps(pack.case_file.model_json_schema(by_alias=True), indent=2, sort_keys=True))
        return EXIT_OK
    if name not in written:
        raise ConfigurationError(f"no schema {name!r}; name one of {', '.join(written)} or case")
    print(json.dumps(schema_of(written[name]), indent=2, sort_keys=True))
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
    "shard": Shard,
    "history": History,
    "drift": Drift,
}
"""Name -> the model of `run.json`, the file of a shard, `history.json` and `drift.json`."""


def schema_of(model: type[BaseModel]) -> dict[str, object]:
    """The schema of files this version writes: every field is there, and the number of the schema is this one's."""
    made = model.model_json_schema(by_alias=True, mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


LOOPBACK: Final = "127.0.0.1"
viewing = typer.Typer()


@viewing.command("view")
def view_command(
    context: typer.Context,
    report: Annotated[
        Path | None, typer.Argument(help="Folder of a report, or a file in it (default: reports/latest).")
    ] = None,
) -> int:
    """Open a report in the browser. Without a browser, serve it to this machine only, until Ctrl-C (exit code 0)."""
    run = given(context).stored(report)
    folder = run if run.is_dir() or not run.suffix else run.parent
    page = folder / "index.html"
    if not page.is_file():
        raise ConfigurationError(f"{page}: no report there; `evals run SUITE` writes one")
    if _has_browser() and webbrowser.open(page.resolve().as_uri()):
        print(f"Opened {page} in a browser.")
    else:
        serve(page)
    return EXIT_OK


def _has_browser() -> bool:
    """Whether there is one with a window: a browser of the terminal runs no scripts."""
    return sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    )


def serve(page: Path) -> None:
    """Serve one page on loopback, on any free port, until Ctrl-C; prints the address first."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.headers.get("Host", "").partition(":")[0] not in (LOOPBACK, "localhost"):
                self.send_error(HTTPStatus.FORBIDDEN)  # a site whose name was made to mean this machine
            elif self.path.partition("?")[0] not in ("/", "/index.html"):
                self.send_error(HTTPStatus.NOT_FOUND)
            else:
                content = page.read_bytes()
                self.send_response(HTTPStatus.OK)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Requests are not printed."""

    with HTTPServer((LOOPBACK, 0), Handler) as server:
        try:
            print(f"{page}: http://{LOOPBACK}:{server.server_port}/ (Ctrl-C ends it)", flush=True)
            server.serve_forever()
        except KeyboardInterrupt:
            return
