"""`evals plan`: what is not on tape yet, why, what recording it takes, and the command that does it."""

from pathlib import Path

from evals.cli.terminal.console import VisibleConsole
from evals.cli.terminal.replaying import replayed
from evals.cli.terminal.wanting import because, count, effort
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK
from evals.pipeline.options import Options
from evals.pipeline.plan import planned
from evals.pipeline.select import selected
from evals.prices import load_prices
from evals.recording.plan.plan import MissingVariant, Plan


def plan(name: str, root: Path, options: Options, *, jobs: int, prices: Path | None, as_json: bool) -> int:
    """Print what is missing; 0 when nothing is, 3 otherwise (a run of this suite could not be judged)."""
    table = load_prices(prices)  # a wrong one is said before the work, not after
    chosen = selected(name, root, options)
    found = planned(name, chosen, replayed(chosen, jobs=jobs).traces, table)
    if as_json:
        print(found.model_dump_json(indent=2))
    else:
        _say(found)
    return EXIT_OK if found.complete else EXIT_CANNOT_JUDGE


def _say(found: Plan) -> None:
    console = VisibleConsole(soft_wrap=True, highlight=False)
    for error in found.broken:
        console.print(f"cannot be replayed: {error}", markup=False)
    if found.complete:
        console.print(f"Nothing is missing: all {found.trials} trials of {found.suite} are on tape.")
    for item in found.variants:
        console.print(_lack(item), markup=False)
    if found.judge:
        console.print(f"judge: {count(found.judge, 'request')} about trials on tape are unanswered", markup=False)
    for cause in found.causes:
        console.print(f"  {because(cause)}", markup=False)
    if found.variants or found.judge:
        console.print(_known(found), markup=False)
        if found.effort:
            console.print(effort(found.effort), markup=False)
        console.print(f"Record them with:\n  {found.command}", markup=False)


def _lack(item: MissingVariant) -> str:
    points = f", {item.points} decision points are unanswered" if item.points else ""
    return f"{item.variant}: {item.off_tape} of {item.trials} trials leave the tape{points}"


def _known(found: Plan) -> str:
    """The estimate is never less than what is known."""
    known = f"{count(found.known, 'distinct request')} known now"
    if found.effort is None:
        return f"{known}; more follow once these are answered. Nothing is recorded to estimate how many."
    cases = count(found.effort.based_on, "recorded case")
    if not found.variants:
        return f"{known}, and none follows from them (estimated from {cases})."
    in_all = found.effort.requests + found.effort.searches
    return f"{known}, about {in_all} in all once these are answered (estimated from {cases})."
