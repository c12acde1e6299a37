"""Two branches recorded the same case: one cassette that holds what either learned.

Three-way and by interaction, never by line. Nothing either side holds is dropped: what one side pruned comes back if
the other still has it, since only a run of all suites can tell that nobody needs it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from evals.cassette.changes import by_name, same_answer
from evals.cassette.store import Cassette, Interaction


@dataclass(frozen=True)
class Conflict:
    """One request, one sample, two answers, and no base that says which one is new."""

    ours: Interaction
    theirs: Interaction


@dataclass(frozen=True)
class Union:
    """The merged interactions; those in conflict are left out."""

    interactions: tuple[Interaction, ...]
    conflicts: tuple[Conflict, ...]


def union(base: Cassette, ours: Cassette, theirs: Cassette) -> Union:
    """All interactions of both sides; an answer that only one side replaced since `base` is the new one."""
    mine, other, old = by_name(ours), by_name(theirs), by_name(base)
    settled: list[Interaction] = []
    conflicts: list[Conflict] = []
    for name in sorted(mine | other):
        found = _settled(old.get(name), mine.get(name), other.get(name))
        if isinstance(found, Conflict):
            conflicts.append(found)
        else:
            settled.append(found)
    return Union(Cassette(ours.path, settled).interactions, tuple(conflicts))


def _settled(base: Interaction | None, ours: Interaction | None, theirs: Interaction | None) -> Interaction | Conflict:
    if ours is None or theirs is None:
        return next(side for side in (ours, theirs) if side is not None)
    if theirs in (ours, base):
        return ours
    if ours == base:
        return theirs
    if same_answer(ours, theirs):
        return min(ours, theirs, key=lambda side: (side.recorded_at, side.body, side.latency_ms))  # whoever merges whom
    return Conflict(ours, theirs)


def preferring(merged: Union, side: str) -> Iterator[Interaction]:
    """All interactions, with every conflict settled for "ours" or "theirs"."""
    yield from merged.interactions
    yield from (conflict.ours if side == "ours" else conflict.theirs for conflict in merged.conflicts)
