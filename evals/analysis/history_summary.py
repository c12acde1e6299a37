"""The history of a suite: flips, turns and cases that fail since when."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from evals.analysis.history_baselines import (
    Blessed,
    Key,
    LabelSet,
    Scores,
    Stored,
    marks_of,
    named,
    read_blessed,
    read_labels,
)
from evals.analysis.history_commits import HistoryRepository, Lineage, lineage
from evals.errors import CannotJudgeError, ConfigurationError
from evals.models.history_result import Blessing, CaseTurn, Flip, History, Red
from evals.models.run import ScorerInfo, Summary
from evals.statistics.intervals import Interval, fraction_interval, macro_interval, macro_mean

Row = tuple[float, ...]
States = tuple[tuple[str, str, str], ...]
"""(case, gold node, cluster) of every state, in order."""


def estimates(
    baselines: Sequence[Stored], labels: Mapping[Key, LabelSet | None], scorers: Sequence[ScorerInfo]
) -> list[tuple[Summary, ...]]:
    """The summaries of each baseline: every score of every variant; endpoints with intervals, costs as plain means."""
    known = [{name: _states(stored, name, labels) for name in stored.variants} for stored in baselines]
    return [
        tuple(
            _macro(stored, name, scorer, told[name]) if scorer.macro else _over_cases(stored, name, scorer, labels)
            for name in stored.variants
            for scorer in scorers
        )
        for stored, told in zip(baselines, known, strict=True)
    ]


def unknown_gold(stored: Stored, summaries: Sequence[Summary], labels: Mapping[Key, LabelSet | None]) -> list[str]:
    """The cases whose labels git does not show as they were, so that what their states are worth was left unsaid."""
    unsaid = {one.variant for one in summaries if one.mean is None}
    return sorted(
        {
            case
            for variant in unsaid & stored.states.keys()
            for case, points in stored.states[variant].items()
            if _labels(stored, case, points, labels) is None
        }
    )


def _states(stored: Stored, variant: str, labels: Mapping[Key, LabelSet | None]) -> tuple[States, Row] | None:
    """The states of a variant and their grades; None where there are none, or not all of their labels are known."""
    states: list[tuple[str, str, str]] = []
    grades: list[float] = []
    for case, points in stored.states.get(variant, {}).items():
        told = _labels(stored, case, points, labels)
        if told is None:
            return None
        states += [(case, told.gold[point], told.cluster) for point in points]
        grades += points.values()
    return (tuple(states), tuple(grades)) if states else None


def _labels(stored: Stored, case: str, points: Scores, labels: Mapping[Key, LabelSet | None]) -> LabelSet | None:
    """The labels of a case, if they know all of the points."""
    told = labels.get((case, stored.cases.get(case, "")))
    return told if told is not None and told.gold.keys() >= points.keys() else None


def _macro(
    stored: Stored,
    variant: str,
    scorer: ScorerInfo,
    told: tuple[States, Row] | None,
) -> Summary:
    if told is None:
        return _summary(stored, variant, scorer, 0, None, None)
    states, row = told
    mean = macro_mean(row, [gold for _, gold, _ in states])
    return _summary(stored, variant, scorer, len({case for case, *_ in states}), mean, _graded(row, states))


def _over_cases(stored: Stored, variant: str, scorer: ScorerInfo, labels: Mapping[Key, LabelSet | None]) -> Summary:
    scores = stored.scores.get((variant, scorer.name), {})
    values = tuple(scores.values())
    mean = sum(values) / len(values) if values else None
    if not scorer.primary or not values:
        return _summary(stored, variant, scorer, len(values), mean, None)
    hits = sum(value == 1 for value in values) if all(value in (0, 1) for value in values) else None
    clusters = tuple(_cluster(stored, case, labels) for case in scores)
    return _summary(stored, variant, scorer, len(values), mean, _interval(values, clusters), hits)


def _cluster(stored: Stored, case: str, labels: Mapping[Key, LabelSet | None]) -> str:
    told = labels.get((case, stored.cases.get(case, "")))
    return told.cluster if told is not None else case


@lru_cache(4096)
def _interval(values: Row, clusters: tuple[str, ...]) -> Interval | None:
    return fraction_interval(values, clusters)


@lru_cache(4096)
def _graded(row: Row, states: States) -> Interval | None:
    return macro_interval(row, [gold for _, gold, _ in states], [cluster for *_, cluster in states])


def _summary(
    stored: Stored,
    variant: str,
    scorer: ScorerInfo,
    n: int,
    mean: float | None,
    interval: Interval | None,
    hits: int | None = None,
) -> Summary:
    low, high = interval or (None, None)
    return Summary(
        variant=variant,
        scorer=scorer.name,
        n=n,
        total=len(stored.cases),
        mean=mean,
        low=low,
        high=high,
        hits=hits,
        pessimistic=None,
        optimistic=None,
        skipped=0,
        failed=0,
    )


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
        flips = tuple(_flips_flips(blessed, each, endpoints, on_side if merges else {}))
        if each.found.side:
            on_side.update({(flip.variant, flip.endpoint, flip.case, flip.now): flip.by for flip in flips})
        found.append(flips)
    return found


def _flips_flips(
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


def tell(root: Path, suite: str, baseline: str, cases: str, scorers: Sequence[ScorerInfo]) -> History:
    """The history of `suite` in the repository around `root`.

    Args:
        root: the checkout.
        suite: its name.
        baseline: where its baseline stands today, from the root.
        cases: the folder of the labelled cases, from the root.
        scorers: what is told of each baseline: primary ones with intervals and flips, the others as means.

    Raises:
        ConfigurationError: no git, or no repository.
        CannotJudgeError: no baseline of the suite was ever committed, or git cannot tell.
    """
    repository = HistoryRepository.at(root)
    line = lineage(repository, baseline)
    if not line.found:
        raise CannotJudgeError(
            f"no baseline of {suite} in git: none was ever committed as {baseline}; bless and commit one"
        )
    blessed = read_blessed(repository, line.found, tuple(scorer.name for scorer in scorers))
    readable = [each for each in blessed if each.stored is not None]
    labels = read_labels(repository, cases, [(each.found.commit.sha, each.stored) for each in blessed if each.stored])
    summaries = iter(estimates([each.stored for each in blessed if each.stored], labels, scorers))
    endpoints = [scorer.name for scorer in scorers if scorer.primary]
    begins = repository.begins
    told = tuple(
        _blessing(blessed, each, next(summaries) if each.stored else (), flips, labels, begins)
        for each, flips in zip(blessed, flips_of(blessed, endpoints), strict=True)
    )
    trunk = [each for each in blessed if not each.found.side]
    last = trunk[-1]
    return History(
        suite=suite,
        candidate=last.settings.candidate if last.settings else "",
        variants=_variants(readable),
        scorers=tuple(scorers),
        blessings=told,
        red=red_cases(trunk, [scorer.name for scorer in scorers if scorer.primary and not scorer.macro]),
        now=_now(last, endpoints),
        missing=tuple(_missing(line, begins, uncommitted=line.gone is None and repository.uncommitted(baseline))),
    )


def _blessing(
    blessed: Sequence[Blessed],
    each: Blessed,
    summaries: tuple[Summary, ...],
    flips: tuple[Flip, ...],
    labels: Mapping[Key, LabelSet | None],
    begins: frozenset[str],
) -> Blessing:
    commit = each.found.commit
    before = blessed[each.found.follows] if each.found.follows is not None else None
    unknown = unknown_gold(each.stored, summaries, labels) if each.stored else []
    lacks = (
        (f"labels of {named(unknown)} are not in its commit, so that decision.score is not known",) if unknown else ()
    )
    return Blessing(
        commit=commit.sha,
        date=commit.date[:10],
        author=commit.author,
        subject=commit.subject,
        path=each.found.path,
        follows=before.found.commit.sha if before else None,
        side=each.found.side,
        here=commit.sha in begins,
        marks=marks_of(before, each) if before else (),
        summaries=summaries,
        flips=flips,
        unread=(*each.unread, *lacks),
    )


def _variants(readable: Sequence[Blessed]) -> tuple[str, ...]:
    """Those of the last baseline first, then those that went before it."""
    stored = [each.stored for each in reversed(readable) if each.stored]
    return tuple(dict.fromkeys(name for each in stored for name in each.variants))


def _now(last: Blessed, endpoints: Sequence[str]) -> dict[str, dict[str, dict[str, float]]]:
    stored = last.stored
    if stored is None:
        return {}
    return {name: {one: dict(stored.scores[name, one]) for one in endpoints} for name in stored.variants}


def _missing(line: Lineage, begins: frozenset[str], *, uncommitted: bool) -> Iterator[str]:
    if begins:
        yield (
            "This clone is shallow: baselines from before its first commits are missing. "
            "`git fetch --unshallow` brings them."
        )
    if uncommitted:
        yield "The baseline in the checkout is not committed: it is no part of this yet."
    if line.gone is not None:
        yield f"The baseline was taken away in {line.gone[:7]}; this is what it was until then."


def turns(history: History, case: str) -> tuple[CaseTurn, ...]:
    """When the case last turned under each variant and on each endpoint of the last baseline.

    A pass-or-fail endpoint turns where it begins or ceases to pass, a graded one at any change.

    Raises:
        ConfigurationError: the last baseline has no score of the case.
    """
    found = tuple(
        _turn(history, variant, endpoint, case, scores[case])
        for variant, endpoints in history.now.items()
        for endpoint, scores in endpoints.items()
        if case in scores
    )
    if not found:
        raise ConfigurationError(f"{case}: the last baseline of {history.suite} has no score of such a case")
    return found


def _turn(history: History, variant: str, endpoint: str, case: str, now: float) -> CaseTurn:
    graded = next(scorer.macro for scorer in history.scorers if scorer.name == endpoint)
    flips = [flip for flip in _flips(history, variant, endpoint, case) if graded or (flip.was < 1) != (flip.now < 1)]
    if not flips:
        return CaseTurn(variant=variant, endpoint=endpoint, now=now, flips=0)
    flip = flips[-1]
    by = next(each for each in history.blessings if each.commit == flip.by)
    return CaseTurn(
        variant=variant,
        endpoint=endpoint,
        now=now,
        was=flip.was,
        commit=by.commit,
        date=by.date,
        author=by.author,
        subject=by.subject,
        marks=by.marks,
        flips=len(flips),
    )


def _flips(history: History, variant: str, endpoint: str, case: str) -> Iterator[Flip]:
    for each in history.line:
        for flip in each.flips:
            if (flip.variant, flip.endpoint, flip.case) == (variant, endpoint, case):
                yield flip
