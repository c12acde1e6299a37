"""Differences between two states of a cassette, the union of two recordings, and adoption of foreign interactions."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any, Final, Literal

from evals.cassettes.interaction import Cassette, Interaction
from evals.cassettes.transcript import lines_of, title

_PASSING: Final = frozenset(
    {"id", "created", "system_fingerprint", "service_tier", "usage", "response_time", "request_id"}
)
"""Members of an answer that differ between two tellings of the same thing; nothing downstream reads them."""


@dataclass(frozen=True)
class Change:
    """One interaction of which the two sides differ; `before` is None when it came, `after` when it went."""

    kind: Literal["came", "went", "answered anew", "recorded again"]
    before: Interaction | None
    after: Interaction | None

    @property
    def interaction(self) -> Interaction:
        """The side there is; the later one of two."""
        found = self.after or self.before
        assert found is not None  # noqa: S101 - a change has at least one side
        return found


def changes(before: Cassette, after: Cassette) -> list[Change]:
    """Everything that differs, in the order of the file."""
    old, new = by_name(before), by_name(after)
    both = Cassette(after.path, (new | old).values()).interactions
    names = [(found.key, found.sample) for found in both]
    return [change for name in names if (change := _change(old.get(name), new.get(name)))]


def by_name(cassette: Cassette) -> dict[tuple[str, int], Interaction]:
    """The interactions by what makes them one: key and sample."""
    return {(found.key, found.sample): found for found in cassette.interactions}


def same_answer(one: Interaction, other: Interaction) -> bool:
    """Whether both say the same; the answer's number, its time and its token counts say nothing."""
    return _said(one) == _said(other)


def described(change: Change) -> Iterator[str]:
    """The change as lines: the whole transcript of what came, the heading of what went, a diff of two answers."""
    yield f"{change.kind}: {title(change.interaction).removeprefix('=== ')}"
    if change.kind == "came":
        yield from (f"+ {line}" for text in list(lines_of(change.interaction))[1:] for line in text.splitlines())
    if change.before is not None and change.after is not None:
        yield from _answers(change.before, change.after)


def _change(before: Interaction | None, after: Interaction | None) -> Change | None:
    if before is None or after is None:
        return Change("came" if before is None else "went", before, after)
    if before == after:
        return None
    return Change("recorded again" if same_answer(before, after) else "answered anew", before, after)


def _answers(before: Interaction, after: Interaction) -> Iterator[str]:
    """From the answer's heading on, which holds model, tokens and time."""
    old, new = ("\n".join(list(lines_of(side))[-2:]).splitlines() for side in (before, after))
    yield from list(unified_diff(old, new, n=1, lineterm=""))[2:]


def _said(interaction: Interaction) -> dict[str, Any]:
    return {name: member for name, member in interaction.response.items() if name not in _PASSING}


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
