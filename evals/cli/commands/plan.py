"""`evals plan`: what is not on tape yet, why, what recording it takes, and the command that does it."""

from pathlib import Path

from evals.cli.terminal.console import VisibleConsole
from evals.cli.terminal.replaying import replayed
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK
from evals.pipeline.options import Options
from evals.pipeline.plan import planned
from evals.pipeline.select import selected
from evals.prices import load_prices
from evals.recording.plan.plan import Effort, MissingBecause, MissingVariant, Plan


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
    for cause in found.causes:
        console.print(f"  {because(cause)}", markup=False)
    if found.variants:
        console.print(_known(found), markup=False)
        if found.effort:
            console.print(effort(found.effort), markup=False)
        console.print(f"Record them with:\n  {found.command}", markup=False)


def _lack(item: MissingVariant) -> str:
    points = f", {item.points} decision points are unanswered" if item.points else ""
    return f"{item.variant}: {item.off_tape} of {item.trials} trials leave the tape{points}"


def because(cause: MissingBecause) -> str:
    """One cause on one line."""
    agents = ", ".join(f"{agent} {count}" for agent, count in cause.agents.items())
    cases = cause.cases[0] if len(cause.cases) == 1 else f"{len(cause.cases)} cases"
    missing = f"{_count(cause.requests, 'request')} ({agents}) of {', '.join(cause.variants)} in {cases}"
    return f"{cause.kind}: {cause.text} · {missing}"


def _known(found: Plan) -> str:
    """The estimate is never less than what is known."""
    known = f"{_count(found.known, 'distinct request')} known now"
    if found.effort is None:
        return f"{known}; more follow once these are answered. Nothing is recorded to estimate how many."
    cases = _count(found.effort.based_on, "recorded case")
    in_all = found.effort.requests + found.effort.searches
    return f"{known}, about {in_all} in all once these are answered (estimated from {cases})."


def effort(found: Effort) -> str:
    """Tokens, price and time on one line."""
    if found.unpriced:
        price = (
            f"price unknown ({', '.join(found.unpriced)} not in the price table of {found.prices_as_of}; --prices FILE)"
        )
    else:
        price = f"{found.usd:.2f} USD by the price table of {found.prices_as_of}"
    tokens = f"About {found.input_tokens:,} tokens in and {found.output_tokens:,} out"
    return f"{tokens}; {price}; {_time(found.seconds)}."


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "time unknown (this model has not answered here yet)"
    shown = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
    return f"about {shown}, one request after the other"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
