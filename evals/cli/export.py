"""`evals export …`: a stored run in the form of another tool: names, options and help texts."""

from pathlib import Path
from typing import Annotated

import typer

from evals.cli.options import HERE, LATEST, Dataset, Root, StoredRun

export = typer.Typer(help="Write a stored run in the form of another tool.", no_args_is_help=True)


@export.callback()
def _keep_the_name() -> None:
    """Write a stored run in the form of another tool."""


@export.command("otlp")
def otlp_command(
    run: StoredRun = LATEST,
    out: Annotated[
        Path | None, typer.Option(help="Write this file: OTLP/JSON, a trace per line; traces.jsonl if not given.")
    ] = None,
    endpoint: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Send to this receiver of OTLP/HTTP instead, as in http://127.0.0.1:4318."),
    ] = None,
    case: Annotated[list[str] | None, typer.Option(help="Only this case (repeatable).")] = None,
    variant: Annotated[list[str] | None, typer.Option(help="Only this variant (repeatable).")] = None,
    content: Annotated[
        bool, typer.Option("--content", help="Messages, findings and reports too; without, none of their words.")
    ] = False,
    began: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="When trials are said to begin (ISO 8601); else when run.json was written."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would go.")] = False,
    retries: Annotated[int, typer.Option(min=0, help="Tries after a rate limit or an outage.")] = 4,
    timeout: Annotated[float, typer.Option(metavar="S", min=0.01, help="Seconds one request may take.")] = 10.0,
    dataset: Dataset = None,
    root: Root = HERE,
) -> int:
    """A stored run as OpenTelemetry traces, one per trial, for Jaeger, Phoenix, Langfuse or a collector.

    Keys go into OTEL_EXPORTER_OTLP_HEADERS. See docs/opentelemetry.md for what the spans say, and what their times are.
    Exit codes: 3 not delivered or refused, or with --content, words of a call that are on no tape.
    """
    from evals.cli.commands.export_otlp import Choice, Delivery, export_otlp

    chosen = Choice(tuple(case or ()), tuple(variant or ()))
    return export_otlp(
        run,
        chosen,
        Delivery(out, endpoint, began, retries, timeout, dry_run=dry_run),
        (root, dataset) if content else None,
    )
