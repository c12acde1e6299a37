"""Commands that decide without `run`: `compare`, `gate`, `selftest`, `metrics`, `noise`, `bless`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from evals.atomic_files import PREVIOUS, new_report
from evals.cli.options import Annotations, Cases, Fresh, Suite, Verbose, given, set_option, settings
from evals.cli.run_output import replayed, say_exit_code, say_result, say_verdict, watched
from evals.cli.terminal import VisibleConsole, annotate, bar, place_of, shown, wide_console
from evals.comparison.assemble_run import decide_again, wants_baseline
from evals.comparison.baseline import load_baseline, path_of
from evals.comparison.stored_side import differences, repeats
from evals.errors import EXIT_OK, EXIT_WORSE, CannotJudgeError, ConfigurationError
from evals.llm_judge.planted_accuracy import other_judge, with_judgement
from evals.models.judge import BlessedJudge, JudgedRun
from evals.models.run import Run
from evals.models.run_request import Options, RunRequest
from evals.models.suite import GatePolicy
from evals.pipeline.bless_suite import bless as blessed
from evals.pipeline.bless_suite import kept_trials
from evals.pipeline.compare_variants import compare as compared
from evals.pipeline.decide_run import decide
from evals.pipeline.kept_verdict import changed_since
from evals.pipeline.load_suite import bless_command, loaded, record_command, scored, selected
from evals.pipeline.read_sides import is_stored, read_sides
from evals.project import Project
from evals.report.run_files import read_run, write_report
from evals.shared.display_text import counted, some
from evals.suites.suite_files import USUAL
from evals.workspace import Workspace

judging = typer.Typer()


@judging.command("compare")
def compare_command(
    context: typer.Context,
    sides: Annotated[
        list[str],
        typer.Argument(
            metavar="A B [C...]",
            help="Variants of the suite, prompt files (.md), git:REV, git:REV:v3, git:REV:path.md; stored runs "
            "(run.json); baseline:SUITE or baseline:SUITE/VARIANT, also with @REV; result files of other tools.",
        ),
    ],
    suite: Annotated[str, typer.Option(help="Suite with the cases, models and `gate:` settings.")] = "prompts",
    case: Cases = None,
    metric: Annotated[list[str] | None, typer.Option("--metric", help="Decide by this metric (repeatable).")] = None,
    changed: Annotated[list[str] | None, set_option(GatePolicy)] = None,
    fresh: Fresh = False,
    out: Annotated[Path | None, typer.Option(help="Folder of the report (default: reports/compare).")] = None,
    verbose: Verbose = False,
) -> int:
    """Compare prompts, stored runs or result files: is the last worse than the first? Exit codes as for `run`.

    `git:REV` alone compares the candidate's prompt at REV with today's. Beside a prompt it means that prompt at REV,
    beside a stored run the suite's baseline at REV. With --case, there is no verdict.

    Result files of promptfoo, Inspect, DeepEval, pydantic-evals and LangSmith, and tables (CSV with the columns case,
    metric, value) need no checkout: `evals compare main.csv branch.csv`. FILE:VARIANT names one of several variants.
    """
    common = given(context, dataset=True)
    options = Options(cases=tuple(case or ()), dataset=common.dataset)
    stored = read_sides(sides, common.root, suite)
    root = common.root.resolve()
    folder = out or (root / "reports" if stored else Workspace.at(root, common.dataset).reports) / "compare"
    with new_report(folder):
        with watched(f"comparing {' '.join(sides)}") as progress:
            result = compared(
                sides,
                *(suite, common.root, options),
                jobs=common.jobs,
                fresh=fresh,
                progress=progress,
                metrics=metric or (),
                policy=lambda policy: settings(GatePolicy, changed, policy),
                stored=stored,
            )
        write_report(result, folder, root)
    took = f"{counted(len(result.trials), 'trial')}, as stored" if stored else progress.took
    say_result(result, took, folder, root, verbose=verbose)
    return result.verdict.exit_code


@judging.command("gate")
def gate_command(
    context: typer.Context,
    stored: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUN]", help="A run.json; else reports/latest/run.json. With --shards: all shards."),
    ] = None,
    shards: Annotated[bool, typer.Option("--shards", help="Judge the shards of one run together.")] = False,
    changed: Annotated[list[str] | None, set_option(GatePolicy)] = None,
    out: Annotated[Path | None, typer.Option(help="With --shards: the report's folder.")] = None,
    annotations: Annotations = False,
) -> int:
    """Judge a stored run again, against the baseline as it is now; nothing is replayed. Exit codes as for `run`."""
    common = given(context)
    if shards:
        if changed:
            raise ConfigurationError("--set: shards are judged as the suite says; leave it out")
        if not stored:
            raise ConfigurationError("--shards: name all shards of one run, as in reports/shards/*.json")
        from evals.pipeline.sharded_run import decide_shards

        request, root = RunRequest("", common.root, out=out, annotations=annotations), common.root.resolve()
        result, trials = decide_shards(stored, request)
        say_result(result, f"{trials} trials of {len(stored)} shards", request.folder(Project.at(root).reports), root)
        annotate(result, root, asked=annotations)
        return result.verdict.exit_code
    if out or annotations:
        raise ConfigurationError("--out and --annotations go with --shards; a stored run has its report already")
    if stored and len(stored) > 1:
        raise ConfigurationError("one run at a time; --shards puts the shards of one run together")
    return gate(common.stored(stored[0] if stored else None), common.root, changed or ())


def gate(run: Path, root: Path, changes: Sequence[str] = ()) -> int:
    """Judge again, with `changes` of the policy, each as `name=value`.

    Raises:
        CannotJudgeError: the run is one of this checkout, and something it was made from has changed since.
    """
    if not run.exists() and (before := run.parent / PREVIOUS / run.name).exists():
        raise CannotJudgeError(f"{run}: the last run came to no verdict; run it again (the one before is {before})")
    stored = read_run(run)
    asked = settings(GatePolicy, changes, stored.gate)
    workspace = Workspace.at(root)
    if run.resolve().is_relative_to(workspace.reports):
        if since := changed_since(stored, root):
            raise CannotJudgeError(
                f"{place_of(run, workspace.root)}: made before a change of {some(since)}; "
                f"run `{bless_command(stored.suite, root, 'run')}` again"
            )
    else:
        print(f"{run}: judged as it was stored; not compared with this checkout, as it is not below reports/")
    baseline = load_baseline(path_of(workspace.baselines, stored.suite))
    record = record_command(stored.suite, Options(), root)
    bless = bless_command(stored.suite, root)
    again: Run = decide_again(stored, baseline, asked, record=record, bless=bless)
    if isinstance(again, JudgedRun):
        blessed = BlessedJudge.of(baseline if wants_baseline(again) else None)
        again = with_judgement(again, again.judge, record, other_judge(blessed, again.judge, bless))
    console = wide_console()
    say_verdict(console, again)
    say_exit_code(console, again)
    return again.verdict.exit_code


@judging.command("selftest")
def selftest_command(
    context: typer.Context,
    suite: Annotated[str, typer.Argument(help="A suite that is not worse, or a suite file.")] = "prompts",
    draws: Annotated[int, typer.Option(min=20, help="Simulated runs per false-alarm rate.")] = 200,
    out: Annotated[Path | None, typer.Option(help="Folder of the page (default: reports/selftest).")] = None,
) -> int:
    """Is the verdict right? Plants faults in copies of a suite, which must be caught; counts false alarms.

    Exit codes: 0 all caught, no more false alarms than `alpha` allows; 1 otherwise; 3 `evals run` does not end in 0.
    """
    from evals.pipeline.selftest_suite import self_test, step_count
    from evals.report.html_page import render_selftest
    from evals.report.run_files import write_sheet
    from evals.report.view.selftest_page import again, faults, power

    common = given(context)
    chosen = scored(selected(suite, common.root, Options()))
    replayed(chosen, jobs=common.jobs)  # what is not there yet, with a bar of its own
    with bar("self-test", step_count(chosen)) as progress:
        result = self_test(chosen, jobs=common.jobs, draws=draws, said=progress.step)
    folder = out or chosen.workspace.reports / "selftest"
    result = write_sheet(result, render_selftest, folder, "selftest", chosen.workspace.cassettes)
    console = wide_console()
    for table in (faults(result), power(result)):
        console.print(shown(table))
    console.print(again(result))
    console.print(result.sentence, style="bold")
    console.print(f"Report: {place_of(folder / 'index.html', chosen.workspace.root)}", markup=False)
    return EXIT_WORSE if result.complaints else EXIT_OK


@judging.command("metrics")
def metrics_command(context: typer.Context, suite: Suite) -> int:
    """Which metrics can decide? Prints how small a change each detects, and recommends primary ones.

    room: 100 % minus the better variant's score. noise: standard deviation between repeats. drop: smallest detectable.
    cases: number needed to detect a drop as large as the suite's margin. "as X": correlates with X by 0.8 or more.

    Exit codes: 0 printed, 3 no case is recorded under both candidate and reference.
    """
    from evals.analysis.metric_power import metric_powers
    from evals.report.view.selftest_page import power_table, recommendation

    common = given(context)
    chosen = scored(selected(suite, common.root, Options()))
    run = decide(chosen, replayed(chosen, jobs=common.jobs))
    powers = metric_powers(run)
    if not powers:
        raise CannotJudgeError(
            f"no case of {suite} has a score under both {run.candidate} and {run.reference}: `evals plan {suite}` says "
            "what is not recorded; a case without a label has no score"
        )
    console = wide_console()
    console.print(shown(power_table(powers, f"Suite {suite}: {run.candidate} against {run.reference}")))
    console.print(recommendation(powers), style="bold", markup=False)
    return EXIT_OK


@judging.command("noise")
def noise_command(
    context: typer.Context,
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Runs of the same version, as for `compare`.")],
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Your check fails if the mean of a metric is below this.")
    ] = None,
    drop: Annotated[
        float, typer.Option(min=0, max=1, help="Your check fails if the mean falls by more than this between runs.")
    ] = 0.0,
    metric: Annotated[list[str] | None, typer.Option("--metric", help="Only this metric (repeatable).")] = None,
    changed: Annotated[list[str] | None, set_option(GatePolicy)] = None,
) -> int:
    """How often does a threshold fail if nothing changed? Which drop does it catch? How many cases are enough?

    Give several runs of one version, or one run with repeats: `evals noise run1.csv run2.csv --threshold 0.9`.

    Exit codes: 0 printed, 3 no case has two values.
    """
    from evals.analysis.noise import MeanGate, noise_of
    from evals.report.view.noise_table import noise_sentence, noise_table

    root, gate = given(context).root, settings(GatePolicy, changed)
    sides = [side for found in read_sides(files, root, USUAL, one_each=True).values() for side in found]
    if unread := [spec for spec in files if not is_stored(spec)]:
        raise ConfigurationError(f"{unread[0]}: no stored run and no result file; name files, as in reports/latest")
    names = metric or [info.name for info in sides[0].metrics if info.primary]
    if not names:
        raise CannotJudgeError(f"no metric is primary in {files[0]}; name one with --metric")
    asked = MeanGate(threshold, drop)
    found = [noise_of(name, repeats(sides, name), asked, alpha=gate.alpha, margin=gate.margin) for name in names]
    console = wide_console()
    for each in found:
        console.print(noise_sentence(each, asked), style="bold", markup=False)
    console.print(shown(noise_table(found, asked, gate.margin)))
    for side in sides[1:]:
        prompt = ["prompt"] * (side.info.prompt_digest != sides[0].info.prompt_digest)
        if differing := [*prompt, *differences(sides[0], side)]:
            console.print(f"Not the same version? {side.source} has other {'; '.join(differing)}.", markup=False)
    return EXIT_OK


@judging.command("bless")
def bless_suite_command(
    context: typer.Context,
    suite: Suite,
    worse: Annotated[
        str | None, typer.Option(metavar="WHY", help="Bless even a worse run; WHY is stored in the baseline.")
    ] = None,
) -> int:
    """Make the suite's present results its baseline. Commit the file it writes.

    Exit codes: 2 worse than the old baseline or the reference, without --worse; 3 not recorded.
    """
    common = given(context)
    chosen = loaded(selected(suite, common.root, Options()), own_baseline=False)
    found = blessed(chosen, replayed(chosen, jobs=common.jobs), worse)
    console = VisibleConsole(soft_wrap=True, highlight=False)
    for loss in found.losses:
        console.print(f"accepted: {loss}", markup=False)
    if worse is not None and not found.losses:
        console.print("Nothing is worse; the reason is not kept.")
    place = found.path.relative_to(chosen.workspace.root)
    console.print(f"Blessed {kept_trials(found.run)} of {suite}: review and commit {place}.")
    return EXIT_OK
