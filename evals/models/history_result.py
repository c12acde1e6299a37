"""The result of `evals history`."""

from typing import Annotated, Final, Literal

from pydantic import Field

from evals.models.base import Closed
from evals.models.run import ScorerInfo, Summary

HISTORY_SCHEMA: Final = 1

MarkKind = Literal[
    "prompt", "guards", "graph", "model", "variants", "labels", "dataset", "scorers", "renamed", "gone", "unread"
]
BREAKING: Final[frozenset[MarkKind]] = frozenset({"labels", "dataset", "scorers", "model", "gone", "unread"})
"""What makes a number mean something else than the one before it: no line is drawn across."""


class HistoryMark(Closed):
    """Something that changed since the baseline before, in words; `variants` are those it is about, none for all."""

    kind: MarkKind
    text: str
    variants: tuple[str, ...] = ()


class Flip(Closed):
    """A case whose score of one endpoint changed under one variant; scores are 0 to 1, higher is better. `by` is the
    commit that did it: that of the blessing, or on a merged branch the one that the merge took it from. `relabelled`:
    its labels or the scorers changed as well, so it need not be the variant that turned."""

    variant: str
    endpoint: str
    case: str
    was: float
    now: float
    by: str
    relabelled: bool = False


class Blessing(Closed):
    """A baseline and the commit that blessed it. `follows` is the commit of the baseline before it, None for the first;
    a `side` one was blessed on a branch and merged later. Where a clone is shallow and begins `here`, it may have been
    blessed earlier, by somebody else. `summaries` have no bounds: a baseline keeps exact trials only."""

    commit: str
    date: str
    author: str
    subject: str
    path: str
    follows: str | None
    side: bool
    here: bool
    marks: tuple[HistoryMark, ...]
    summaries: tuple[Summary, ...]
    flips: tuple[Flip, ...]
    unread: tuple[str, ...] = ()

    @property
    def goes_on(self) -> bool:
        """Whether its numbers may be joined with those of the baseline before."""
        return self.follows is not None and not any(mark.kind in BREAKING for mark in self.marks)


class Red(Closed):
    """A case that does not pass in the last baseline, and since when it has not: the commit and how many baselines in a
    row, this one included. `always`: nobody has ever seen it pass. `relabelled` are the commits since then at which its
    labels or the scorers changed."""

    case: str
    variant: str
    endpoint: str
    value: float
    since: str
    date: str
    baselines: Annotated[int, Field(ge=1)]
    always: bool
    relabelled: tuple[str, ...] = ()


class History(Closed):
    """All baselines of a suite, oldest first. `now` is what the last one says: variant -> endpoint -> case -> score.
    `missing` are sentences on what git could not show; `candidate` is that of the suite as of the last baseline, empty
    where nobody knows."""

    schema_version: Annotated[int, Field(ge=1, le=HISTORY_SCHEMA)] = HISTORY_SCHEMA
    suite: str
    candidate: str
    variants: tuple[str, ...]
    scorers: tuple[ScorerInfo, ...]
    blessings: tuple[Blessing, ...]
    red: tuple[Red, ...]
    now: dict[str, dict[str, dict[str, float]]]
    missing: tuple[str, ...] = ()

    @property
    def line(self) -> tuple[Blessing, ...]:
        """The baselines one after the other, without those of merged branches."""
        return tuple(each for each in self.blessings if not each.side)


class CaseTurn(Closed):
    """What a case scores under a variant now, and where that turned last: what it was before, the commit that did it
    and what else changed there. None of that where it never turned, as far as baselines tell. `flips` counts turns."""

    variant: str
    endpoint: str
    now: float
    was: float | None = None
    commit: str | None = None
    date: str = ""
    author: str = ""
    subject: str = ""
    marks: tuple[HistoryMark, ...] = ()
    flips: int
