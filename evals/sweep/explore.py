"""One case under all points of a grid, with as few trials as possible: points share one where they must."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evals.models.case import Case
from evals.models.sweep import Point
from evals.models.trace import Trace
from evals.subject.floor import asked, rulings


@dataclass(frozen=True)
class Explored:
    """The distinct traces of one case; `which` holds, per point, the index of its trace."""

    case_id: str
    points: tuple[Point, ...]
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
    return Explored(case.id, tuple(points), tuple(traces), tuple(which[number] for number in range(len(points))))


def joined(parts: Sequence[Explored], points: Sequence[Point]) -> Explored:
    """The points of one case that were explored apart, in the order of `points`; a trace that two parts have is one.

    Two traces are the same when nothing but the name of the setting differs. A failed one stands for itself alone.
    """
    if len(parts) == 1:
        return parts[0]
    found = {point: part.traces[index] for part in parts for point, index in zip(part.points, part.which, strict=True)}
    distinct: dict[str, int] = {}
    which = tuple(distinct.setdefault(_content(point, found[point]), len(distinct)) for point in points)
    traces = tuple(found[points[which.index(number)]] for number in range(len(distinct)))
    return Explored(parts[0].case_id, tuple(points), traces, which)


def _content(point: Point, trace: Trace) -> str:
    own = point.name if trace.provenance.label == "failed" else ""
    return trace.model_copy(update={"variant": own}).model_dump_json()


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
