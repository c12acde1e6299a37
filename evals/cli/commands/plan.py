"""`evals plan`: what is not on tape yet, per variant, and the command that records it."""

from pathlib import Path

from rich.console import Console

from evals.cli.commands.execute import replay
from evals.cli.commands.selection import Options, selected
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK
from evals.models.trace import Trace
from evals.recording.missing import Missing, missing_of


def plan(name: str, root: Path, options: Options, *, jobs: int) -> int:
    """Print what is missing; 0 when nothing is, 3 otherwise (a run of this suite could not be judged)."""
    chosen = selected(name, root, options)
    traces = replay(chosen, jobs=jobs, fresh=False).traces
    console = Console(soft_wrap=True, highlight=False)
    broken = [trace for trace in traces if trace.provenance.label == "failed"]
    for error in dict.fromkeys(trace.error or "failed" for trace in broken):
        console.print(f"cannot be replayed: {error}", markup=False)
    missing = [item for info in chosen.variants if (item := _of(info.variant.name, traces)).trials or item.points]
    if not missing and not broken:
        console.print(f"Nothing is missing: all {len(traces)} trials of {chosen.suite.name} are on tape.")
        return EXIT_OK
    for item in missing:
        console.print(_sentence(item), markup=False)
    if missing:
        known = len({key for item in missing for key in item.keys})
        console.print(
            f"{known} requests are known now; more follow once these are answered. Record them with:\n"
            f"  {chosen.record_command}",
            markup=False,
        )
    return EXIT_CANNOT_JUDGE


def _of(variant: str, traces: tuple[Trace, ...]) -> Missing:
    return missing_of(variant, [trace for trace in traces if trace.variant == variant])


def _sentence(item: Missing) -> str:
    agents = ", ".join(f"{agent} {count}" for agent, count in item.by_agent)
    return (
        f"{item.variant}: {item.trials} of {item.of} trials leave the tape, {item.points} decision points are "
        f"unanswered; first missing requests by agent: {agents}"
    )
