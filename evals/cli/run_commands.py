"""Commands that run and decide: `run`, `compare`, `gate`, `selftest`, `bless`."""

import time
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated

import typer
from pydantic import Field

from evals.cli.global_options import given
from evals.cli.shared_options import (
    Annotations,
    Cases,
    Fresh,
    OpenHoldout,
    Repeat,
    Suite,
    SuiteSettings,
    Variants,
    Verbose,
    set_option,
    settings,
)
from evals.cli.terminal import annotate, place_of, wide_console
from evals.cli.terminal_output import say_result, watched
from evals.errors import EXIT_OK, ConfigurationError
from evals.models.run_request import TRIAL_TIMEOUT, WHOLE, Options, RunRequest, Share
from evals.models.suite import GatePolicy
from evals.pipeline.run_suite import run as pipeline

judging = typer.Typer()


class RunSettings(SuiteSettings):
    """What `--set` changes in a run. `trial_timeout`: seconds after which a trial has failed."""

    trial_timeout: float = Field(TRIAL_TIMEOUT, ge=0.01)


def _today() -> date:
    return datetime.now(UTC).date()


@judging.command("run")
def run_command(
    context: typer.Context,
    suite: Suite,
    case: Cases = None,
    variant: Variants = None,
    repeat: Repeat = None,
    changed: Annotated[list[str] | None, set_option(RunSettings)] = None,
    open_holdout: OpenHoldout = None,
    fresh: Fresh = False,
    out: Annotated[
        Path | None, typer.Option(help="Where the report goes (reports/latest if not given), or the file of a shard.")
    ] = None,
    annotations: Annotations = False,
    scheduler: Annotated[
        str,
        typer.Option(
            metavar="WHERE", help="local, or dask://HOST:PORT: a Dask cluster whose workers stand in checkouts."
        ),
    ] = "local",
    shard: Annotated[
        str | None,
        typer.Option(metavar="N/OF", help="Only this share of the trials, into a file for `evals gate --shards`."),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Run again whenever a prompt, guard, suite, case or cassette changes.")
    ] = False,
    verbose: Verbose = False,
) -> int:
    """Replay a suite offline, score it, decide the verdict, and write the report."""
    common, asked = given(context, dataset=True), settings(RunSettings, changed)
    request = RunRequest(
        suite,
        common.root,
        Options(
            asked.guards,
            asked.max_iterations,
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
        out=out,
        annotations=annotations,
        verbose=verbose,
        today=_today(),
    )
    if watch and shard is not None:
        raise ConfigurationError("--watch shows verdicts, and a --shard has none; leave one of them out")
    if watch:
        from evals.cli.watch_run import watch as keep_watching

        return keep_watching(request)
    return run(request) if shard is None else run_shard(request)


@judging.command("compare")
def compare_command(
    context: typer.Context,
    sides: Annotated[
        list[str],
        typer.Argument(
            metavar="A B [C...]",
            help="Variants of the suite, prompt files (.md), git:REV, git:REV:v3 or git:REV:path.md.",
        ),
    ],
    suite: Annotated[str, typer.Option(help="Whose cases, models and policy to use.")] = "prompts",
    case: Cases = None,
    fresh: Fresh = False,
    out: Annotated[Path | None, typer.Option(help="Where the report goes; reports/compare if not given.")] = None,
    verbose: Verbose = False,
) -> int:
    """Is the last one worse than the first? Any prompts, compared on the cases of a suite; exit codes as for `run`.

    `git:REV` alone is the prompt named beside it as of that revision, or that of the suite's candidate; if nothing else
    is named, it is compared with the working tree.
    """
    from evals.cli.verdict_commands import compare

    common = given(context, dataset=True)
    options = Options(cases=tuple(case or ()), dataset=common.dataset)
    request = RunRequest(
        suite, common.root, options, jobs=common.jobs, fresh=fresh, out=out, verbose=verbose, today=_today()
    )
    return compare(sides, request)


@judging.command("gate")
def gate_command(
    context: typer.Context,
    stored: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUN]", help="A run.json; reports/latest/run.json if not given. With --shards: all."),
    ] = None,
    shards: Annotated[
        bool, typer.Option("--shards", help="The files are the shards of one run: put them together and judge it.")
    ] = False,
    changed: Annotated[list[str] | None, set_option(GatePolicy)] = None,
    out: Annotated[
        Path | None, typer.Option(help="With --shards: where the report goes; reports/latest if not given.")
    ] = None,
    annotations: Annotations = False,
) -> int:
    """Judge a stored run again, against the baseline as it is now; nothing is replayed. Exit codes as for `run`."""
    from evals.cli.verdict_commands import gate, merge

    common = given(context)
    if shards:
        if changed:
            raise ConfigurationError("--set: shards are judged as the suite says; leave it out")
        if not stored:
            raise ConfigurationError("--shards: name all shards of one run, as in reports/shards/*.json")
        return merge(stored, RunRequest("", common.root, out=out, today=_today(), annotations=annotations))
    if out or annotations:
        raise ConfigurationError("--out and --annotations go with --shards; a stored run has its report already")
    if stored and len(stored) > 1:
        raise ConfigurationError("one run at a time; --shards puts the shards of one run together")
    return gate(common.stored(stored[0] if stored else None), common.root, changed or ())


@judging.command("selftest")
def selftest_command(
    context: typer.Context,
    suite: Annotated[str, typer.Argument(help="A shipped suite that is green, or a suite file.")] = "prompts",
    draws: Annotated[int, typer.Option(min=20, help="Generated comparisons per rate.")] = 200,
    out: Annotated[Path | None, typer.Option(help="Folder of the page (default: reports/selftest).")] = None,
) -> int:
    """Does the gate do what it says? Plants faults that must be caught, and counts false alarms; changes nothing.

    Exit codes: 0 all caught and no more false alarms than alpha, 1 not so, 3 the suite is not green to begin with.
    """
    from evals.cli.analysis_commands import selftest

    common = given(context)
    return selftest(suite, common.root, jobs=common.jobs, draws=draws, today=_today(), out=out)


@judging.command("bless")
def bless_command(
    context: typer.Context,
    suite: Suite,
    worse: Annotated[
        str | None, typer.Option(metavar="WHY", help="Bless what is worse, too; the reason stays in the baseline.")
    ] = None,
) -> int:
    """Make the suite's present results its baseline. Commit the file it writes.

    Exit codes: 2 something is worse than before, or than the reference, and --worse does not say why; 3 not recorded.
    """
    from evals.cli.verdict_commands import bless

    common = given(context)
    return bless(RunRequest(suite, common.root, jobs=common.jobs, today=_today()), worse)


def run(request: RunRequest) -> int:
    """Run a suite and write its report; the exit code is the verdict's."""
    with watched(f"replaying {request.suite}") as progress:
        done = pipeline(request, progress)
    root = done.context.workspace.root
    took = f"{len(done.trials.traces)} trials in {done.seconds:.1f} s, {done.trials.reused} reused unchanged"
    say_result(done.run, took, done.folder, root, verbose=request.verbose)
    annotate(done.run, root, asked=request.annotations)
    return done.run.verdict.exit_code


def run_shard(request: RunRequest) -> int:
    """Run and write the request's share. Returns 0, whatever became of its trials: `gate --shards` decides."""
    from evals.pipeline.merge_shards import run_shard as run_share

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
