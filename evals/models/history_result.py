"""The result of `evals history`."""

from typing import Annotated, Final, Literal

from pydantic import Field

from evals.models.base import Closed
from evals.models.run import ScorerInfo, Summary

HISTORY_SCHEMA: Final = 2
"""1 also had baselines of merged branches, and a mark of guards alone."""

MarkKind = Literal[
    "prompt", "suite", "graph", "model", "variants", "labels", "dataset", "scorers", "renamed", "gone", "unread"
]
BREAKING: Final[frozenset[MarkKind]] = frozenset({"labels", "dataset", "scorers", "model", "gone", "unread"})
"""What makes a number mean something else than the one before it: no line is drawn across."""


class HistoryMark(Closed):
    """Something that changed since the baseline before, in words; `variants` are those it is about, none for all."""

    kind: MarkKind
    text: str
    variants: tuple[str, ...] = ()


class Flip(Closed):
    """A case whose score of one endpoint changed under one variant; scores are 0 to 1, higher is better. `relabelled`:
    its labels or the scorers changed as well, so it need not be the variant that turned."""

    variant: str
    endpoint: str
    case: str
    was: float
    now: float
    relabelled: bool = False


class Blessing(Closed):
    """A baseline and the commit of the main line that brought it. `summaries` have no bounds: a baseline keeps exact
    trials only. `unread` says why there are none."""

    commit: str
    date: str
    author: str
    subject: str
    path: str
    marks: tuple[HistoryMark, ...]
    summaries: tuple[Summary, ...]
    flips: tuple[Flip, ...]
    unread: str | None = None

    @property
    def goes_on(self) -> bool:
        """Whether its numbers may be joined with those of the baseline before."""
        return not any(mark.kind in BREAKING for mark in self.marks)


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
    `missing` are sentences on what git could not show; `candidate` is the suite's, empty where it is gone."""

    schema_version: Annotated[int, Field(ge=1, le=HISTORY_SCHEMA)] = HISTORY_SCHEMA
    suite: str
    candidate: str
    variants: tuple[str, ...]
    scorers: tuple[ScorerInfo, ...]
    blessings: tuple[Blessing, ...]
    red: tuple[Red, ...]
    now: dict[str, dict[str, dict[str, float]]]
    missing: tuple[str, ...] = ()


class CaseTurn(Closed):
    """What a case scores under a variant now, what it was before it last turned, and `by` which baseline that was. None
    of that where it never turned, as far as baselines tell. `flips` counts turns."""

    variant: str
    endpoint: str
    now: float
    was: float | None = None
    by: Blessing | None = None
    flips: int
