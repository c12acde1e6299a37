"""What each hunk between two versions of a prompt did to decisions and routes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self

from evals.models.base import Closed
from evals.prices import PriceTable
from evals.statistics.intervals import mean
from evals.statistics.paired_tests import difference_interval


@dataclass(frozen=True)
class Place:
    """A decision point of a case, or (`point` empty) its whole trial."""

    case: str
    point: str = ""

    def __str__(self) -> str:
        return f"{self.case} {self.point}".strip()


Answers = Mapping[Place, str]
"""What was chosen where; a place without an answer is missing."""


class HunkEffect(Closed):
    """What hunks did, put into the old version (`+`) or taken out of the new one (`-`).

    Of `asked` answers (`missing` more are not recorded) the hunks `changed` some; `explained` of these are as in the
    other version. They `mended` answers that score higher with the hunks, and `broke` those that score lower. `score`
    is the change of the mean score over all places of the suite, with its 95 % interval from `low` to `high`; None
    while answers are missing. `where` lists the changes.
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


class HunkPart(Closed):
    """A stretch of the prompt in both versions; `hunk` is 0 where they agree."""

    old: str
    new: str
    hunk: int


class AnswerCost(Closed):
    """Mean tokens and price of one answer; `usd` is None where a model has no price."""

    tokens_in: float
    tokens_out: float
    usd: float | None

    @classmethod
    def of(cls, answers: Sequence[tuple[str, int, int]], prices: PriceTable) -> Self | None:
        """The mean over answers, each a model, tokens in and tokens out; None for no answer."""
        if not answers:
            return None
        costs = [cost for cost in (prices.cost(*answer) for answer in answers) if cost is not None]
        return cls(
            tokens_in=sum(told for _, told, _ in answers) / len(answers),
            tokens_out=sum(said for _, _, said in answers) / len(answers),
            usd=sum(costs) / len(costs) if len(costs) == len(answers) else None,
        )


class Attribution(Closed):
    """Everything one `evals attribute` found. `decisions` were answered under both versions; `whole` is all hunks
    together, asked where the versions differ.

    Of these, `by_one` are explained by exactly one hunk put in, `by_several` by each of several alone, and `together`
    by no single one. `routes` is about whole trials; `unrecorded` are suite files whose answers are missing.
    """

    schema_version: int = 1
    suite: str
    old: str
    new: str
    parts: tuple[HunkPart, ...]
    decisions: int
    whole: HunkEffect
    effects: tuple[HunkEffect, ...]
    routes: tuple[HunkEffect, ...]
    by_one: int
    by_several: int
    together: int
    cost: AnswerCost | None
    unrecorded: tuple[str, ...]

    @property
    def missing(self) -> int:
        """Answers and trials that are not recorded."""
        return sum(each.missing for each in (*self.effects, *self.routes))

    @property
    def singles(self) -> tuple[HunkEffect, ...]:
        """Each hunk put in alone."""
        return tuple(each for each in self.effects if each.way == "+" and len(each.hunks) == 1)

    @property
    def interaction(self) -> float | None:
        """The change of the score that the hunks, put in one by one, do not add up to."""
        scores = [each.score for each in self.singles if each.score is not None]
        if self.whole.score is None or len(scores) < len(self.singles):
            return None
        return self.whole.score - sum(scores)


@dataclass(frozen=True)
class Board:
    """What effects are measured on: the score of an answer, the cluster of every place, what both versions answer, and
    whether places are whole `trials`."""

    grade: Callable[[Place, str], float]
    clusters: Mapping[Place, str]
    old: Answers
    new: Answers
    trials: bool = False

    @property
    def differing(self) -> list[Place]:
        """Where the versions give different answers."""
        return [place for place in self.clusters if self.old[place] != self.new[place]]

    def effect(
        self, way: tuple[tuple[int, ...], Literal["+", "-"]], found: Answers, places: Sequence[Place]
    ) -> HunkEffect:
        """What hunks did at these places, by the answers `found` with them put in or taken out. Elsewhere the versions
        agree, and the hunks count as without effect."""
        hunks, sign = way
        before, after, other = (self.old, found, self.new) if sign == "+" else (found, self.new, self.old)
        known = [place for place in places if place in found]
        changed = [place for place in known if before[place] != after[place]]
        gains = {place: self.grade(place, after[place]) - self.grade(place, before[place]) for place in known}
        changes = [gains.get(place, 0.0) for place in self.clusters]
        interval = difference_interval(changes, list(self.clusters.values()))
        is_whole = len(known) == len(places)
        return HunkEffect(
            hunks=hunks,
            way=sign,
            asked=len(known),
            missing=len(places) - len(known),
            changed=len(changed),
            explained=sum(found[place] == other[place] for place in changed),
            mended=sum(gain > 0 for gain in gains.values()),
            broke=sum(gain < 0 for gain in gains.values()),
            score=mean(changes) if is_whole else None,
            low=interval.low if interval and is_whole else None,
            high=interval.high if interval and is_whole else None,
            where=tuple(f"{place}: {before[place]} became {after[place]}" for place in changed),
        )
