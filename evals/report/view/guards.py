"""What the code had to put right: guards that overruled the supervisor, and replies that could not be used."""

from collections.abc import Callable, Iterable
from typing import Final

from evals.models.run import Run
from evals.models.trace import Decision, Trace
from evals.report.numbers import NOTHING
from evals.report.view.table import Table

Count = Callable[[Decision], int]

FAULTS: Final[tuple[tuple[str, Count], ...]] = (
    ("reply asked for again", lambda decision: decision.corrections),
    ("reply unusable", lambda decision: decision.error is not None),
    ("forced fallback", lambda decision: decision.forced_fallback),
)


def guard_table(run: Run) -> Table:
    """Guards and faults by variant: how often, and in how many trials. Trials off the tape count as far as they are
    recorded: what happened before a miss did happen."""
    names = tuple(info.variant.name for info in run.variants)
    traces = {name: [trial.trace for trial in run.trials if trial.trace.variant == name] for name in names}
    guards = sorted({veto.guard for trial in run.trials for one in trial.trace.decisions for veto in one.vetoes})
    counts = [*((f"veto by {guard}", _vetoes_of(guard)) for guard in guards), *FAULTS]
    return Table(
        "How often the code stepped in, over all recorded decisions",
        ("what", *names),
        (
            *((what, *(_counted(traces[name], count) for name in names)) for what, count in counts),
            ("decisions in all", *(_counted(traces[name], lambda _: 1) for name in names)),
        ),
    )


def _vetoes_of(guard: str) -> Count:
    return lambda decision: sum(veto.guard == guard for veto in decision.vetoes)


def _counted(traces: Iterable[Trace], count: Count) -> str:
    """The number of times, and in how many of the trials with a recorded decision; without any it is no 0."""
    times = [sum(map(count, trace.decisions)) for trace in traces if trace.decisions]
    if not times:
        return NOTHING
    told = f"{sum(number > 0 for number in times)} of {len(times)} trials"
    return f"{sum(times)} in {told}" if sum(times) else told
