"""What each hunk between two versions of a prompt did to decisions and routes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evals.models.base import Closed
from evals.models.case import Case
from evals.prompt_hunks import Part
from evals.statistics.intervals import mean
from evals.statistics.paired_tests import difference_interval

HunkSet = tuple[tuple[int, ...], Literal["+", "-"]]
"""Hunks, and the sign: added to the old version, or removed from the new one."""
Key = tuple[str, str]
"""A case and its decision point; an empty point is the whole trial."""
Answers = Mapping[Key, str]
"""What was chosen where; an answer that is not there is not recorded."""


def at_points(cases: Sequence[Case], points: Mapping[str, Sequence[str]]) -> list[Case]:
    """The cases that have `points`, with only these decision points; their graph is not run."""
    found = []
    for case in cases:
        if ids := points.get(case.id):
            changes = {"labels": case.known.at(frozenset(ids)), "digest": f"{case.digest} at {' '.join(ids)}"}
            found.append(case.model_copy(update={**changes, "only_points": True}))
    return found


class HunkEffect(Closed):
    """What hunks did, added to the old version or removed from the new one (`way`: `+` or `-`).

    Of `asked` answers (`missing` more are not recorded) the hunks `changed` some; `explained` of these are as in the
    other version. They `mended` answers that score higher with the hunks, and `broke` those that score lower. `score`
    is the change of the mean score over all decisions (or trials) of the suite, with its 95 % interval from `low` to
    `high`; None while answers are missing, or where nothing is labelled. `where` lists the changes.
    """

    hunks: tuple[int, ...]
    way: Literal["+", "-"]
    asked: int
    missing: int
    changed: int
    explained: int
    mended: int
    broke: int
    score: float | None
    low: float | None
    high: float | None
    where: tuple[str, ...]


class Attribution(Closed):
    """Everything one `evals attribute` found. `decisions` were answered under both versions; `whole` is all hunks
    together, where the versions differ.

    Of these, `by_one` follow from exactly one added hunk, `by_several` by each of several alone, and `together`
    by no single one. `routes` is about whole trials; `unrecorded` are suite files whose answers are missing. One answer
    takes `tokens_in` and `tokens_out` on average, and `usd` where the price is known.
    """

    schema_version: int = 1
    suite: str
    old: str
    new: str
    parts: tuple[Part, ...]
    decisions: int
    whole: HunkEffect
    effects: tuple[HunkEffect, ...]
    routes: tuple[HunkEffect, ...]
    by_one: int
    by_several: int
    together: int
    tokens_in: float | None
    tokens_out: float | None
    usd: float | None
    unrecorded: tuple[str, ...]

    @property
    def missing(self) -> int:
        """Answers and trials that are not recorded."""
        return sum(each.missing for each in (*self.effects, *self.routes))

    @property
    def alone(self) -> tuple[HunkEffect, ...]:
        """Each hunk added alone."""
        return tuple(each for each in self.effects if each.way == "+" and len(each.hunks) == 1)


@dataclass(frozen=True)
class VersionPair:
    """Choices of both versions per decision (or trial) of the suite, with how they are graded (those `graded`, which
    are labelled) and clustered."""

    grade: Callable[[Key, str], float]
    graded: Collection[Key]
    clusters: Mapping[Key, str]
    old: Answers
    new: Answers

    @property
    def differing(self) -> list[Key]:
        """Where the versions give different answers."""
        return [key for key in self.clusters if self.old[key] != self.new[key]]

    def effect(self, hunk_set: HunkSet, found: Answers, keys: Sequence[Key]) -> HunkEffect:
        """What hunks did there, by the answers `found` with them added or removed. Elsewhere they count as without
        effect."""
        hunks, sign = hunk_set
        before, after, other = (self.old, found, self.new) if sign == "+" else (found, self.new, self.old)
        known = [key for key in keys if key in found]
        changed = [key for key in known if before[key] != after[key]]
        gains = {key: self.grade(key, after[key]) - self.grade(key, before[key]) for key in known}
        gains = {key: gain for key, gain in gains.items() if key in self.graded}
        clusters = {key: cluster for key, cluster in self.clusters.items() if key in self.graded}
        changes = [gains.get(key, 0.0) for key in clusters]
        is_whole = len(known) == len(keys) and bool(clusters)
        interval = difference_interval(changes, list(clusters.values())) if is_whole else None
        return HunkEffect(
            hunks=hunks,
            way=sign,
            asked=len(known),
            missing=len(keys) - len(known),
            changed=len(changed),
            explained=sum(found[key] == other[key] for key in changed),
            mended=sum(gain > 0 for gain in gains.values()),
            broke=sum(gain < 0 for gain in gains.values()),
            score=mean(changes) if is_whole else None,
            low=interval.low if interval else None,
            high=interval.high if interval else None,
            where=tuple(f"{' '.join(key).strip()}: {before[key]} became {after[key]}" for key in changed),
        )
