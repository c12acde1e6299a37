"""Which cases turned from one baseline to the next, and the commit that did it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from evals.history.blessed import Blessed
from evals.history.stored import Stored
from evals.models.history import Flip

Turned = tuple[str, str, str, float]
"""(variant, endpoint, case, new score)."""
_SAME: Final = 1e-9


def flips_of(blessed: Sequence[Blessed], endpoints: Sequence[str]) -> list[tuple[Flip, ...]]:
    """Per baseline, what flipped since the score before: in the baseline it follows, or the last that has one.

    What a merge took as a branch already had it was done by the commit of the branch.
    """
    found: list[tuple[Flip, ...]] = []
    on_side: dict[Turned, str] = {}
    for each in blessed:
        merges = len(each.found.commit.parents) > 1
        flips = tuple(_flips(blessed, each, endpoints, on_side if merges else {}))
        if each.found.side:
            on_side.update({(flip.variant, flip.endpoint, flip.case, flip.now): flip.by for flip in flips})
        found.append(flips)
    return found


def _flips(
    blessed: Sequence[Blessed], now: Blessed, endpoints: Sequence[str], on_side: Mapping[Turned, str]
) -> Iterator[Flip]:
    if now.stored is None or now.found.follows is None:
        return
    before = blessed[now.found.follows].stored
    for variant in now.stored.variants:
        for endpoint in endpoints:
            same = before.scores.get((variant, endpoint), {}) if before is not None else {}
            for case, score in now.stored.scores[variant, endpoint].items():
                if same.get(case) == score:
                    continue
                then = _earlier(blessed, now.found.follows, (variant, endpoint), case)
                if then is not None and abs(then.scores[variant, endpoint][case] - score) > _SAME:
                    yield Flip(
                        variant=variant,
                        endpoint=endpoint,
                        case=case,
                        was=then.scores[variant, endpoint][case],
                        now=score,
                        by=on_side.get((variant, endpoint, case, score), now.found.commit.sha),
                        relabelled=then.scorers != now.stored.scorers
                        or then.cases.get(case) != now.stored.cases.get(case),
                    )


def _earlier(blessed: Sequence[Blessed], place: int | None, key: tuple[str, str], case: str) -> Stored | None:
    """The last baseline up to `place` that has a score of the case."""
    while place is not None:
        stored = blessed[place].stored
        if stored is not None and case in stored.scores.get(key, {}):
            return stored
        place = blessed[place].found.follows
    return None
