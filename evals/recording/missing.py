"""What the tape lacks for one variant, counted from traces that ran into it."""

from collections import Counter
from collections.abc import Sequence

from evals.models.closed import Closed
from evals.models.trace import Trace


class Missing(Closed):
    """Distinct requests that are known to be missing now; what follows them is not known before they are answered."""

    variant: str
    of: int
    trials: int
    points: int
    keys: tuple[str, ...]
    by_agent: tuple[tuple[str, int], ...]


def missing_of(variant: str, traces: Sequence[Trace]) -> Missing:
    """Count the misses of a variant's traces; equal requests of one case count once."""
    asked = {(trace.case_id, miss.key): miss.agent for trace in traces for miss in (*trace.misses, *trace.point_misses)}
    return Missing(
        variant=variant,
        of=len(traces),
        trials=sum(bool(trace.misses) for trace in traces),
        points=sum(point.chosen is None for trace in traces for point in trace.points),
        keys=tuple(f"{case}/{key}" for case, key in asked),
        by_agent=tuple(sorted(Counter(asked.values()).items())),
    )
