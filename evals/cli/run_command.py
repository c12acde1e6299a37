"""`evals run`."""

import time
from pathlib import Path
from typing import Annotated

import typer
from pydantic import Field

from evals.cli.options import (
    Annotations,
    Cases,
    Fresh,
    OpenHoldout,
    Repeat,
    Suite,
    SuiteSettings,
    Variants,
    Verbose,
    given,
    set_option,
    settings,
)
from evals.cli.run_output import say_result, watched
from evals.cli.terminal import annotate, place_of, wide_console
from evals.errors import EXIT_OK, ConfigurationError
from evals.models.run_request import TRIAL_TIMEOUT, WHOLE, Options, RunRequest, Share
from evals.pipeline.run_suite import run as pipeline
from evals.shared.display_text import counted

running = typer.Typer()


class RunSettings(SuiteSettings):
    """What `--set` changes in a run. `trial_timeout`: seconds after which a trial has failed."""

    trial_timeout: float = Field(TRIAL_TIMEOUT, ge=0.01)


@running.command("run")
def run_command(
    context: typer.Context,
    suite: Suite,
    case: Cases = None,
    variant: Variants = None,
    repeat: Repeat = None,
    changed: Annotated[list[str] | None, set_option(RunSettings)] = None,
    open_holdout: OpenHoldout = None,
    fresh: Fresh = False,
    out: Annotated[Path | None, typer.Option(help="Report folder (reports/latest); with --shard, a file.")] = None,
    annotations: Annotations = False,
    scheduler: Annotated[str, typer.Option(metavar="WHERE", help="local, or dask://HOST:PORT (Dask).")] = "local",
    shard: Annotated[str | None, typer.Option(metavar="N/OF", help="Run one part, for `gate --shards`.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Run again whenever an input file changes.")] = False,
    decisive: Annotated[bool, typer.Option("--decisive", help="For failed trials, name the wrong decision.")] = False,
    verbose: Verbose = False,
) -> int:
    """Replay a suite offline, score it, decide, and write the report. With --case or --variant: no verdict."""
    common = given(context, dataset=True)
    asked = settings(RunSettings, changed, root=common.root)
    request = RunRequest(
        suite,
        common.root,
        Options(
            asked.of_variants,
            tuple(case or ()),
            tuple(variant or ()),
            common.dataset,
            open_holdout,
            repeat,
        ),
        jobs=common.jobs,
        fresh=fresh,
        trial_timeout=asked.trial_timeout,
        share=WHOLE if shard is None else Share.parse(shard),
        scheduler=scheduler,
        decisive=decisive,
        out=out,
        annotations=annotations,
        verbose=verbose,
    )
    if shard is not None and (watch or decisive):
        named = "--watch" if watch else "--decisive"
        raise ConfigurationError(f"{named} shows verdicts, and a --shard has none; leave one of them out")
    if watch:
        from evals.cli.watch_mode import watch as keep_watching

        return keep_watching(request)
    return run(request) if shard is None else run_shard(request)


def run(request: RunRequest) -> int:
    """Run a suite and write its report; the exit code is the verdict's."""
    with watched(f"replaying {request.suite}") as progress:
        done = pipeline(request, progress)
    root = done.context.workspace.root
    took = f"{counted(len(done.trials.traces), 'trial')} in {done.seconds:.1f} s, {done.trials.reused} reused unchanged"
    say_result(done.run, took, done.folder, root, verbose=request.verbose)
    annotate(done.run, root, asked=request.annotations)
    return done.run.verdict.exit_code


def run_shard(request: RunRequest) -> int:
    """Run and write the request's share. Returns 0, whatever became of its trials: `gate --shards` decides."""
    from evals.pipeline.sharded_run import run_shard as run_share

    started = time.monotonic()
    with watched(f"replaying {request.suite}") as progress:
        chosen, trials, path = run_share(request, progress)
    failed = sum(trace.provenance.label == "failed" for trace in trials.traces)
    wide_console().print(
        f"shard {request.share} of {chosen.suite.name}: {len(trials.traces)} trials in "
        f"{time.monotonic() - started:.1f} s, {trials.reused} reused unchanged, {failed} failed. "
        f"`evals gate --shards` judges them with the others: {place_of(path, chosen.workspace.root)}",
        markup=False,
    )
    return EXIT_OK
