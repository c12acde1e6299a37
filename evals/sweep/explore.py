"""One case under all points of a grid, with as few trials as possible: points share one where they must."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evals.models.case import Case
from evals.models.sweep import Point
from evals.models.trace import Trace
from evals.subject.floor import asked, rulings


@dataclass(frozen=True)
class Explored:
    """The distinct traces of one case; `which` holds, per point of the grid, the index of its trace."""

    case_id: str
    traces: tuple[Trace, ...]
    which: tuple[int, ...]


def explore(case: Case, points: Sequence[Point], run: Callable[[Point], Trace | None]) -> Explored | None:
    """Run the first open point, hand its trace to every point whose floor rules alike along it, and go on.

    Returns None as soon as `run` has no trace to give (a cache that is asked before anything is started).
    """
    traces: list[Trace] = []
    which: dict[int, int] = {}
    for number, point in enumerate(points):
        if number in which:
            continue
        trace = run(point)
        if trace is None:
            return None
        for other in _alike(case, trace, points, number):
            which.setdefault(other, len(traces))
        traces.append(trace)
    return Explored(case.id, tuple(traces), tuple(which[number] for number in range(len(points))))


def _alike(case: Case, trace: Trace, points: Sequence[Point], number: int) -> list[int]:
    """The points that give this trace as well: same guard set, and a floor with the same rulings in its every state."""
    states = asked(case, trace) if trace.provenance.label != "failed" else None
    if states is None:
        return [number]
    ours = rulings(states, points[number].floor)
    return [
        other
        for other, point in enumerate(points)
        if point.guards == points[number].guards and rulings(states, point.floor) == ours
    ]
