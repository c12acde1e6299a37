"""The work of `evals gate`, `bless` and `compare`."""

from collections.abc import Sequence
from pathlib import Path

from evals.atomic_files import PREVIOUS, new_report
from evals.cli.shared_options import settings
from evals.cli.terminal import VisibleConsole, annotate, place_of, wide_console
from evals.cli.terminal_output import replayed, say_exit_code, say_result, say_verdict, watched
from evals.comparison.assemble import decide_again
from evals.comparison.baseline import load_baseline, path_of
from evals.errors import EXIT_OK, CannotJudgeError
from evals.llm_judge.judge_verdict import with_judgement
from evals.models.judge import JudgedRun
from evals.models.run import Run
from evals.models.run_request import RunRequest
from evals.models.suite import GatePolicy
from evals.pipeline.bless_suite import bless as blessed
from evals.pipeline.bless_suite import counted
from evals.pipeline.changed_files import changed_since
from evals.pipeline.compare_variants import compare as compared
from evals.pipeline.load_run import loaded, selected
from evals.report.run_files import write_report
from evals.report.stored_files import read_run
from evals.workspace import Workspace


def merge(paths: Sequence[Path], request: RunRequest) -> int:
    """Put the shards of one run together, decide it and write its report; the exit code is the verdict's."""
    from evals.pipeline.merge_shards import decide_shards

    result, trials = decide_shards(paths, request)
    root = request.root.resolve()
    say_result(result, f"{trials} trials of {len(paths)} shards", request.folder(), root)
    annotate(result, root, asked=request.annotations)
    return result.verdict.exit_code


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
                f"{place_of(run, workspace.root)}: made before a change of {_some(since)}; "
                f"run `.venv/bin/evals run {stored.suite}` again"
            )
    else:
        print(f"{run}: judged as it was stored; not compared with this checkout, as it is not below reports/")
    baseline = load_baseline(path_of(workspace.baselines, stored.suite))
    again: Run = decide_again(stored, baseline, asked)
    if isinstance(again, JudgedRun):
        again = with_judgement(again, again.judge, f"make record SUITE={stored.suite}")
    console = wide_console()
    say_verdict(console, again)
    say_exit_code(console, again)
    return again.verdict.exit_code


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def bless(request: RunRequest, worse: str | None = None) -> int:
    """Write the suite's present results as its baseline; held-out cases are no part of it. `worse` is the reason for
    blessing what is worse. Returns 0."""
    chosen = loaded(selected(request.suite, request.root, request.options), request.today, own_baseline=False)
    found = blessed(chosen, replayed(chosen, jobs=request.jobs), worse)
    console = VisibleConsole(soft_wrap=True, highlight=False)
    for loss in found.losses:
        console.print(f"accepted: {loss}", markup=False)
    if worse is not None and not found.losses:
        console.print("Nothing is worse; the reason is not kept.")
    console.print(
        f"Blessed {counted(found.run)} of {request.suite}: review and commit "
        f"{found.path.relative_to(chosen.workspace.root)}."
    )
    return EXIT_OK


def compare(specs: Sequence[str], request: RunRequest) -> int:
    """Run the sides, compare the last with the first, write the report; the exit code is the verdict's."""
    workspace = Workspace.at(request.root, request.options.dataset)
    folder = request.out or workspace.reports / "compare"
    with new_report(folder):
        with watched(f"comparing {' '.join(specs)}") as progress:
            at = (request.suite, request.root, request.options)
            result = compared(
                specs, *at, jobs=request.jobs, fresh=request.fresh, progress=progress, today=request.today
            )
        write_report(result, folder)
    say_result(result, progress.took, folder, workspace.root, verbose=request.verbose)
    return result.verdict.exit_code
