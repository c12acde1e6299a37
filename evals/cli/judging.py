"""The commands that judge: names, options and help texts; the work of each is in `evals.cli.commands`."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from evals.cli.options import (
    CORES,
    CORROBORATED,
    HERE,
    LATEST,
    LONGEST,
    SINGLE,
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
    Watch,
)
from evals.errors import ConfigurationError

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
    trial_timeout: TrialTimeout = LONGEST,
    out: Annotated[
        Path | None, typer.Option(help="Where the report goes (reports/latest if not given), or the file of a shard.")
    ] = None,
    annotations: Annotations = False,
    scheduler: Scheduler = "local",
    shard: ShardOf = None,
    watch: Watch = False,
    root: Root = HERE,
) -> int:
    """Replay a suite offline, score it, judge it, and write the report."""
    from evals.cli.commands.run import run
    from evals.pipeline.options import Options

    options = Options(guards, max_iterations, tuple(case or ()), tuple(variant or ()), dataset, open_holdout, samples)
    if watch:
        from evals.cli.commands.watch import watch as keep_watching
        from evals.cli.commands.watch import words

        if shard is not None:
            raise ConfigurationError("--watch shows verdicts, and a --shard has none; leave one of them out")
        how = words(
            jobs=jobs, fresh=fresh, trial_timeout=trial_timeout, scheduler=scheduler, out=out, annotations=annotations
        )
        return keep_watching(suite, root, options, how)
    if shard is not None:
        from evals.cli.commands.shard import shard as run_shard

        return run_shard(
            suite,
            root,
            options,
            shard,
            jobs=jobs,
            fresh=fresh,
            trial_timeout=trial_timeout,
            scheduler=scheduler,
            out=out,
        )
    return run(
        suite,
        root,
        options,
        jobs=jobs,
        fresh=fresh,
        trial_timeout=trial_timeout,
        scheduler=scheduler,
        out=out,
        today=datetime.now(UTC).date(),
        annotations=annotations,
    )


@judging.command("merge")
def merge_command(
    shards: StoredShards,
    out: Annotated[Path | None, typer.Option(help="Where the report goes; reports/latest if not given.")] = None,
    annotations: Annotations = False,
    root: Root = HERE,
) -> int:
    """Put the shards of one run together, and judge it as `run` would have judged it whole; exit codes as for `run`."""
    from evals.cli.commands.merge import merge

    return merge(shards, root, out=out, today=datetime.now(UTC).date(), annotations=annotations)


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
    root: Root = HERE,
) -> int:
    """Is the last one worse than the first? Any prompts, compared on the cases of a suite; exit codes as for `run`.

    `git:REV` alone is the prompt named beside it as of that revision, or that of the suite's candidate; if nothing else
    is named, it is compared with the working tree.
    """
    from evals.cli.commands.compare import compare
    from evals.pipeline.options import Options

    options = Options(cases=tuple(case or ()), dataset=dataset)
    return compare(sides, suite, root, options, jobs=jobs, fresh=fresh, out=out, today=datetime.now(UTC).date())


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
    from evals.cli.commands.gate import gate

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
    from evals.cli.commands.selftest import selftest

    return selftest(suite, root, jobs=jobs, draws=draws, today=datetime.now(UTC).date(), out=out)


@judging.command("sweep")
def sweep_command(
    suite: Suite,
    single: Annotated[str, typer.Option(help="Thresholds that one finding needs: FROM:TO:STEP or a,b,c.")] = SINGLE,
    corroborated: Annotated[str, typer.Option(help="Thresholds that several findings need.")] = CORROBORATED,
    min_findings: Annotated[str, typer.Option(help="How many findings make several.")] = "2",
    sets: Annotated[
        str | None, typer.Option("--guards", help="Guard sets to try: all, or a,b,c; the variant's own if not given.")
    ] = None,
    variant: Annotated[
        str | None, typer.Option(help="The variant to vary; the suite's candidate if not given.")
    ] = None,
    score: Annotated[str, typer.Option(help="The score to choose by.")] = "route.score",
    case: Cases = None,
    dataset: Dataset = None,
    jobs: Jobs = CORES,
    open_holdout: OpenHoldout = None,
    out: Annotated[Path | None, typer.Option(help="Where the report goes; reports/sweep if not given.")] = None,
    root: Root = HERE,
) -> int:
    """Try thresholds and guard sets over the recorded tape, and recommend where to work: chosen on tune, held to gate.

    Exit codes: 0 recommended, 1 the choice did not hold on gate, 3 not recorded well enough to recommend anything.
    """
    from evals.cli.commands.sweep import sweep
    from evals.pipeline.options import Options
    from evals.pipeline.sweep import Axes

    axes = Axes(single, corroborated, min_findings, sets)
    options = Options(
        cases=tuple(case or ()), variants=(variant,) if variant else (), dataset=dataset, open_holdout=open_holdout
    )
    return sweep(suite, root, options, axes, score, jobs=jobs, out=out, today=datetime.now(UTC).date())


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
    from evals.cli.commands.bless import bless

    return bless(suite, root, jobs=jobs, today=datetime.now(UTC).date(), worse=worse)
