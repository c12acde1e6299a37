"""`evals points`: the states in which the reference's routers decided, as decision points."""

from pathlib import Path

import typer

from evals.cli.options import Suite, given
from evals.cli.terminal import bar, place_of, say
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK
from evals.models.run_request import Options
from evals.pipeline.load_suite import selected
from evals.runner.worker_pool import run_tasks
from evals.shared.display_text import counted
from evals.target.cases import FOLDER
from evals.target.frozen_decision_points import FreezeTask, FrozenCase, freeze, lost

freezing = typer.Typer()


@freezing.command("points")
def points_command(context: typer.Context, suite: Suite) -> int:
    """Replay the reference variant and save each state in which a router decided: a file per case, to be labelled.

    Later, `record` and `run` ask every variant's routers in these states, without the rest of the graph.

    Exit codes: 0 done, 3 no router can be asked without the rest of the graph.
    """
    common = given(context)
    chosen = selected(suite, common.root, Options())
    reference = next(info.variant for info in chosen.variants if info.variant.name == chosen.suite.reference)
    found: list[FrozenCase] = []
    with bar(f"freezing decisions of {reference.name}", len(chosen.cases)) as progress:
        tasks = [FreezeTask(case, reference, chosen.workspace) for case in chosen.cases]
        for done in run_tasks(tasks, common.jobs, freeze, lost):
            found.append(done)
            progress.step(done.case_id)
    reasons: dict[str, list[str]] = {}
    for each in found:
        for text in each.refused:
            reasons.setdefault(text.removeprefix(f"{each.case_id}: "), []).append(each.case_id)
    for why, cases in reasons.items():
        say(f"{counted(len(cases), 'case')}: {why}" if len(cases) > 1 else f"{cases[0]}: {why}")
    count = sum(each.points for each in found)
    folder = place_of(Path(chosen.workspace.datasets) / FOLDER, chosen.workspace.root)
    say(f"{count} decision points of {reference.name} in {sum(each.points > 0 for each in found)} cases: {folder}/")
    if not count:
        return EXIT_CANNOT_JUDGE
    say(f"Grade what is acceptable there in `accept`, such as {{billing: 1}}. Next: `{chosen.record_command}`")
    return EXIT_OK
