"""Commands that run and decide: `run`, `merge`, `compare`, `gate`, `bless`."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from evals.cli.shared_options import (
    CORES,
    HERE,
    LATEST,
    Annotations,
    Cases,
    Dataset,
    Fresh,
    Guards,
    Jobs,
    MaxIterations,
    OpenHoldout,
    Root,
    Samples,
    Scheduler,
    ShardOf,
    StoredRun,
    StoredShards,
    Suite,
    TrialTimeout,
    Variants,
    Verbose,
    Watch,
)
from evals.cli.terminal import annotate
from evals.cli.terminal_output import say_result, watched
from evals.errors import ConfigurationError
from evals.models.run_request import TRIAL_TIMEOUT, WHOLE, Options, RunRequest, Share
from evals.pipeline.run_suite import run as pipeline

judging = typer.Typer()


@judging.command("run")
def run_command(
    suite: Suite,
    guards: Guards = None,
    max_iterations: MaxIterations = None,
    case: Cases = None,
    variant: Variants = None,
    samples: Samples = None,
    dataset: Dataset = None,
    jobs: Jobs = CORES,
    open_holdout: OpenHoldout = None,
    fresh: Fresh = False,
    trial_timeout: TrialTimeout = TRIAL_TIMEOUT,
    out: Annotated[
        Path | None, typer.Option(help="Where the report goes (reports/latest if not given), or the file of a shard.")
    ] = None,
    annotations: Annotations = False,
    scheduler: Scheduler = "local",
    shard: ShardOf = None,
    watch: Watch = False,
    verbose: Verbose = False,
    root: Root = HERE,
) -> int:
    """Replay a suite offline, score it, decide the verdict, and write the report."""
    request = RunRequest(
        suite,
        root,
        Options(guards, max_iterations, tuple(case or ()), tuple(variant or ()), dataset, open_holdout, samples),
        jobs=jobs,
        fresh=fresh,
        trial_timeout=trial_timeout,
        share=WHOLE if shard is None else Share.parse(shard),
        scheduler=scheduler,
        out=out,
        annotations=annotations,
        verbose=verbose,
        today=datetime.now(UTC).date(),
    )
    if watch and shard is not None:
        raise ConfigurationError("--watch shows verdicts, and a --shard has none; leave one of them out")
    if watch:
        from evals.cli.watch_run import watch as keep_watching

        return keep_watching(request)
    if shard is not None:
        from evals.cli.verdict_commands import run_shard

        return run_shard(request)
    return run(request)


@judging.command("merge")
def merge_command(
    shards: StoredShards,
    out: Annotated[Path | None, typer.Option(help="Where the report goes; reports/latest if not given.")] = None,
    annotations: Annotations = False,
    root: Root = HERE,
) -> int:
    """Put the shards of one run together, and decide it as `run` would have; exit codes as for `run`."""
    from evals.cli.verdict_commands import merge

    today = datetime.now(UTC).date()
    return merge(shards, RunRequest("", root, out=out, today=today, annotations=annotations))


@judging.command("compare")
def compare_command(
    sides: Annotated[
        list[str],
        typer.Argument(
            metavar="A B [C...]",
            help="Variants of the suite, prompt files (.md), git:REV, git:REV:v3 or git:REV:path.md.",
        ),
    ],
    suite: Annotated[str, typer.Option(help="Whose cases, models and policy to use.")] = "prompts",
    case: Cases = None,
    dataset: Dataset = None,
    jobs: Jobs = CORES,
    fresh: Fresh = False,
    out: Annotated[Path | None, typer.Option(help="Where the report goes; reports/compare if not given.")] = None,
    verbose: Verbose = False,
    root: Root = HERE,
) -> int:
    """Is the last one worse than the first? Any prompts, compared on the cases of a suite; exit codes as for `run`.

    `git:REV` alone is the prompt named beside it as of that revision, or that of the suite's candidate; if nothing else
    is named, it is compared with the working tree.
    """
    from evals.cli.verdict_commands import compare

    options, today = Options(cases=tuple(case or ()), dataset=dataset), datetime.now(UTC).date()
    request = RunRequest(suite, root, options, jobs=jobs, fresh=fresh, out=out, verbose=verbose, today=today)
    return compare(sides, request)


@judging.command("gate")
def gate_command(
    run: StoredRun = LATEST,
    alpha: Annotated[float | None, typer.Option(help="Another level of significance.")] = None,
    margin: Annotated[float | None, typer.Option(help="Another margin of equivalence, as a fraction.")] = None,
    coverage_floor: Annotated[float | None, typer.Option(help="Another share of trials that must be exact.")] = None,
    require: Annotated[str | None, typer.Option(help="no_regression or equivalence.")] = None,
    root: Root = HERE,
) -> int:
    """Judge a stored run again, against the baseline as it is now; nothing is replayed. Exit codes as for `run`."""
    from evals.cli.verdict_commands import gate

    return gate(run, root, alpha=alpha, margin=margin, coverage_floor=coverage_floor, require=require)


@judging.command("selftest")
def selftest_command(
    suite: Annotated[str, typer.Argument(help="A shipped suite that is green, or a suite file.")] = "prompts",
    jobs: Jobs = CORES,
    draws: Annotated[int, typer.Option(min=20, help="Generated comparisons per rate.")] = 200,
    out: Annotated[Path | None, typer.Option(help="Folder of the page (default: reports/selftest).")] = None,
    root: Root = HERE,
) -> int:
    """Does the gate do what it says? Plants faults that must be caught, and counts false alarms; changes nothing.

    Exit codes: 0 all caught and no more false alarms than alpha, 1 not so, 3 the suite is not green to begin with.
    """
    from evals.cli.analysis_commands import selftest

    return selftest(suite, root, jobs=jobs, draws=draws, today=datetime.now(UTC).date(), out=out)


@judging.command("bless")
def bless_command(
    suite: Suite,
    worse: Annotated[
        str | None, typer.Option(metavar="WHY", help="Bless what is worse, too; the reason stays in the baseline.")
    ] = None,
    jobs: Jobs = CORES,
    root: Root = HERE,
) -> int:
    """Make the suite's present results its baseline. Commit the file it writes.

    Exit codes: 2 something is worse than before, or than the reference, and --worse does not say why; 3 not recorded.
    """
    from evals.cli.verdict_commands import bless

    return bless(RunRequest(suite, root, jobs=jobs, today=datetime.now(UTC).date()), worse)


def run(request: RunRequest) -> int:
    """Run a suite and write its report; the exit code is the verdict's."""
    with watched(f"replaying {request.suite}") as progress:
        done = pipeline(request, progress)
    root = done.context.workspace.root
    took = f"{len(done.trials.traces)} trials in {done.seconds:.1f} s, {done.trials.reused} reused unchanged"
    say_result(done.run, took, done.folder, root, verbose=request.verbose)
    annotate(done.run, root, asked=request.annotations)
    return done.run.verdict.exit_code
