"""Commands that write a stored run in the form of another tool: `export otlp`."""

import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from evals.atomic_files import write_files
from evals.cli.options import DryRun, StoredRun, given
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK, ConfigurationError, ServiceError
from evals.models.run import Run, Trial
from evals.otlp.otlp_send import Receiver, headers_in, line_of, requests_of
from evals.otlp.span_data import Tapes
from evals.otlp.span_plan import Count, planned_traces
from evals.report.run_files import read_run
from evals.shared.secrets.rule import hold
from evals.workspace import Workspace

FILE: Final = Path("traces.jsonl")
_LATEST: Final = timedelta(days=530 * 365)
export = typer.Typer(help="Export a stored run for another tool.", no_args_is_help=True)


@export.callback()
def _keep_the_name() -> None:
    """Export a stored run for another tool."""


@export.command("otlp")
def otlp_command(
    context: typer.Context,
    run: StoredRun = None,
    out: Annotated[Path | None, typer.Option(help="The file to write (default: traces.jsonl).")] = None,
    endpoint: Annotated[str | None, typer.Option(metavar="URL", help="Send to this OTLP/HTTP receiver.")] = None,
    case: Annotated[list[str] | None, typer.Option(help="Only this case (repeatable).")] = None,
    variant: Annotated[list[str] | None, typer.Option(help="Only this variant (repeatable).")] = None,
    content: Annotated[bool, typer.Option("--content", help="Also export messages, findings and reports.")] = False,
    began: Annotated[str | None, typer.Option(metavar="TIME", help="Start, ISO 8601 (default: run.json's).")] = None,
    dry_run: DryRun = False,
    retries: Annotated[int, typer.Option(min=0, help="Tries after a rate limit or an outage.")] = 4,
    timeout: Annotated[float, typer.Option(metavar="S", min=0.01, help="Seconds one request may take.")] = 10.0,
) -> int:
    """Write a stored run as OpenTelemetry traces, one per trial, for Jaeger, Phoenix, Langfuse or a collector.

    Keys go into OTEL_EXPORTER_OTLP_HEADERS. docs/opentelemetry.md explains the spans and their times.
    Exit code 3: not delivered, refused, or (with --content) a message is in no cassette.
    """
    common = given(context, dataset=True)
    if out and endpoint:
        raise ConfigurationError("--out and --endpoint: a file or a receiver; leave one of them out")
    receiver = _receiver(endpoint, retries, timeout) if endpoint else None
    path = common.stored(run)
    found = read_run(path)
    tapes = Tapes(Workspace.at(common.root, common.dataset)) if content else None
    count = Count(path)
    traces = count.passing(planned_traces(found, _chosen(found, case or [], variant or []), tapes))
    requests = requests_of(traces, path.stat().st_mtime_ns if began is None else _nanoseconds(began))
    done = _deliver(requests, out or FILE, receiver, count, dry_run=dry_run)
    print(f"{count}; {done}")
    if tapes and tapes.untold:
        print(
            f"calls without their words: {tapes.untold}; no cassette of this checkout has them: "
            "name another --root or --dataset"
        )
        return EXIT_CANNOT_JUDGE
    return EXIT_OK


def _chosen(run: Run, cases: Sequence[str], variants: Sequence[str]) -> list[Trial]:
    """Trials of these cases and variants; none named is all. Raises ConfigurationError if the run lacks a name, or has
    no trial of them."""
    _refuse_unknown("--case", cases, [case.id for case in run.cases])
    _refuse_unknown("--variant", variants, [info.variant.name for info in run.variants])
    of_cases = [trial for trial in run.trials if not cases or trial.trace.case_id in cases]
    found = [trial for trial in of_cases if not variants or trial.trace.variant in variants]
    if not found:
        raise ConfigurationError("the run holds no trial of these; leave --case or --variant out")
    return found


def _nanoseconds(began: str) -> int:
    """A time in nanoseconds since 1970."""
    try:
        told = datetime.fromisoformat(began)
    except ValueError:
        raise ConfigurationError(f"--began {began}: give a time such as 2026-11-23T08:00:00Z") from None
    since = (told if told.tzinfo else told.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
    if not timedelta() <= since < _LATEST:
        raise ConfigurationError(f"--began {began}: spans know times from 1970 to 2500 only")
    return since // timedelta(microseconds=1) * 1000


def _deliver(
    requests: Iterable[ExportTraceServiceRequest], out: Path, receiver: Receiver | None, count: Count, *, dry_run: bool
) -> str:
    """What became of them, in words."""
    if dry_run:
        for _ in requests:
            pass
        return "nothing was written or sent"
    if receiver is None:
        write_files(out.parent, {out.name: map(line_of, requests)})
        return f"in {out}"
    _send(requests, receiver, count)
    return f"sent to {receiver.url}"


def _send(requests: Iterable[ExportTraceServiceRequest], receiver: Receiver, count: Count) -> None:
    try:
        for request in requests:
            receiver.send(request)
    except ServiceError as error:
        if (before := count.traces - 1) < 1:
            raise
        told = f"traces that arrived before: {before}, and they are the same when sent again"
        raise ServiceError(f"{error}; {told}") from None
    finally:
        receiver.close()


def _receiver(endpoint: str, retries: int, timeout_s: float) -> Receiver:
    headers = headers_in()
    hold(*(word for value in headers.values() for word in value.split()))
    return Receiver(endpoint, headers, time.sleep, retries=retries, timeout_s=timeout_s)


def _refuse_unknown(option: str, named: Iterable[str], known: Iterable[str]) -> None:
    names: Iterator[str] = (name for name in named if name not in set(known))
    if (unknown := next(names, None)) is not None:
        raise ConfigurationError(f"{option} {unknown}: not in this run; it has {', '.join(sorted(known))}")
