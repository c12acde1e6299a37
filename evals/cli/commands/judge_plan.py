"""`evals judge plan`: what a suite and the check of its judge ask that is not on tape."""

from pathlib import Path

from evals.cli.terminal.console import VisibleConsole
from evals.cli.terminal.replaying import replayed
from evals.cli.terminal.wanting import because, effort
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK
from evals.pipeline.judge_plan import causes_of, effort_of
from evals.pipeline.judged import asking, bench, unanswered
from evals.pipeline.options import Options
from evals.pipeline.select import selected
from evals.prices import load_prices
from evals.recording.plan.gather import Gatherer


def plan(name: str, root: Path, *, jobs: int, prices: Path | None) -> int:
    """Print what is missing; 0 when nothing is, 3 otherwise."""
    table = load_prices(prices)
    chosen = selected(name, root, Options())
    traces = replayed(chosen, jobs=jobs).traces
    asked, planted = asking(chosen, traces), bench(chosen, traces)
    questions = (*asked.questions, *planted.questions)
    lacking = unanswered(chosen, questions)
    console = VisibleConsole(soft_wrap=True, highlight=False)
    if not lacking:
        console.print(f"Nothing is missing: all {len(questions)} questions to the judge are on tape.")
        return EXIT_OK
    console.print(
        f"{len(lacking)} requests to the judge are not on tape, of {len(asked.graded)} reports to grade, "
        f"{len(asked.paired)} questions about pairs, {len(planted.plants)} planted reports and {len(planted.again)} "
        "asked twice; equal ones are asked once"
    )
    for cause in causes_of(chosen, lacking):
        console.print(f"  {because(cause)}", markup=False)
    experience = Gatherer(chosen.workspace, chosen.variants).experience([case.id for case in chosen.cases])
    console.print(effort(effort_of(chosen, lacking, experience, table)), markup=False)
    console.print(f"Record them with:\n  .venv/bin/evals judge record {name}", markup=False)
    return EXIT_CANNOT_JUDGE
