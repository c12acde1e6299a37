"""Which cases do not pass in the last baseline, and since when."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from evals.history.blessed import Blessed
from evals.history.stored import Stored
from evals.models.history import Red


def red_cases(line: Sequence[Blessed], endpoints: Sequence[str]) -> tuple[Red, ...]:
    """Cases short of a pass on one of the pass-or-fail `endpoints`, the longest red first. `line` is the baselines one
    after the other, without those of merged branches."""
    last = line[-1].stored if line else None
    if last is None:
        return ()
    found = [
        _red(line, (variant, endpoint), case)
        for variant in last.variants
        for endpoint in endpoints
        for case, score in last.scores[variant, endpoint].items()
        if score < 1
    ]
    return tuple(sorted(found, key=lambda red: (-red.baselines, red.variant, red.endpoint, red.case)))


def _red(line: Sequence[Blessed], key: tuple[str, str], case: str) -> Red:
    back = list(_known(line, key, case))
    passed = next((place for place, (_, stored) in enumerate(back) if stored.scores[key][case] >= 1), None)
    red = back[:passed]
    first, last = red[-1][0].found.commit, red[0][1]
    return Red(
        case=case,
        variant=key[0],
        endpoint=key[1],
        value=last.scores[key][case],
        since=first.sha,
        date=first.date[:10],
        baselines=len(red),
        always=passed is None,
        relabelled=tuple(
            now.found.commit.sha
            for (now, stored), (_, was) in pairwise(red)
            if stored.cases.get(case) != was.cases.get(case) or stored.scorers != was.scorers
        ),
    )


def _known(line: Sequence[Blessed], key: tuple[str, str], case: str) -> Iterator[tuple[Blessed, Stored]]:
    """The baselines that have a score of the case, the last first."""
    for each in reversed(line):
        if each.stored is not None and case in each.stored.scores.get(key, {}):
            yield each, each.stored
