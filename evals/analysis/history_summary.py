"""The history of a suite: its blessed baselines in git, what changed between them, and since when a case fails."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evals.analysis.blessed_commits import BlessedCommit, HistoryRepository, plain_yaml
from evals.errors import CannotJudgeError, ConfigurationError
from evals.models.analysis_results import Blessing, CaseTurn, Flip, History, HistoryMark, Red
from evals.models.run import ScorerInfo, Summary
from evals.project import Project
from evals.shared.display_text import counted, some
from evals.statistics.intervals import Interval, fraction_interval, macro_interval, macro_mean

Row = tuple[float, ...]
Key = tuple[str, str]
"""(case, digest of all its labels rest on)."""
States = tuple[tuple[str, str, str], ...]
"""(case, gold node, cluster) of every decision point, in order."""
AnsweredBy = Mapping[str, Mapping[str, Mapping[str, tuple[str, ...]]]]
"""Variant -> agent -> models -> the cases they answered."""
_SAME: Final = 1e-9
_NAMED: Final = 5


class Stored(BaseModel):
    """What a history reads of a baseline; members that older ones lack are empty."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    scorers: str = ""
    topology: dict[str, str] = Field(default_factory=dict)
    cases: dict[str, str] = Field(default_factory=dict)
    prompts: dict[str, str] = Field(default_factory=dict)
    values: dict[str, dict[str, dict[str, float]]]
    states: dict[str, dict[str, dict[str, float]]] = Field(default_factory=dict)
    answered_by: dict[str, dict[str, dict[str, tuple[str, ...]]]] = Field(default_factory=dict)

    def scores(self, variant: str, scorer: str) -> dict[str, float]:
        """Case -> score, by case."""
        cases = sorted(self.values.get(variant, {}).items())
        return {case: scores[scorer] for case, scores in cases if scorer in scores}


@dataclass(frozen=True)
class LabelSet:
    """Decision point -> gold node, the best graded; `cluster` is what is resampled together."""

    gold: Mapping[str, str]
    cluster: str


Labels = Mapping[Key, LabelSet | None]


@dataclass(frozen=True)
class Blessed:
    """A baseline and its commit. `stored` is None where it cannot be read; `gone` is the commit that had removed the
    one before; `suite` is the suite's file as a git object, None where there is none."""

    commit: BlessedCommit
    stored: Stored | None
    gone: str | None
    suite: str | None


def tell(
    repository: HistoryRepository, suite: str, candidate: str, baseline: str, cases: str, scorers: Sequence[ScorerInfo]
) -> History:
    """The history of `suite`.

    Args:
        repository: where its baselines are committed.
        suite: its name.
        candidate: the variant that the history is told by; empty for the first.
        baseline: where its baseline stands today, from the checkout's root.
        cases: the folder of the labelled cases, from the checkout's root.
        scorers: what is told of each baseline: primary ones with intervals and changed cases, the others as means.

    Raises:
        CannotJudgeError: no baseline of the suite was ever committed, or git cannot tell.
    """
    blessed, gone = _read(repository, baseline)
    if not blessed:
        raise CannotJudgeError(
            f"no baseline of {suite} in git: none was ever committed as {baseline}; bless and commit one"
        )
    labels = _read_labels(repository, cases, blessed)
    primary = [scorer for scorer in scorers if scorer.primary]
    readable = [each.stored for each in reversed(blessed) if each.stored]
    return History(
        suite=suite,
        candidate=candidate,
        variants=tuple(dict.fromkeys(name for stored in readable for name in stored.values)),
        scorers=tuple(scorers),
        blessings=tuple(
            Blessing(
                commit=each.commit.sha,
                date=each.commit.date[:10],
                author=each.commit.author,
                subject=each.commit.subject,
                path=each.commit.path,
                marks=tuple(_marks(before, each)) if before else (),
                summaries=summaries(each.stored, labels, scorers) if each.stored else (),
                flips=tuple(_flips(blessed[:place], each, primary)),
                unread=None if each.stored else "its baseline cannot be read",
            )
            for place, (before, each) in enumerate(zip((None, *blessed), blessed, strict=False))
        ),
        red=_red_cases(blessed, [scorer.name for scorer in primary if not scorer.macro]),
        now={
            name: {scorer.name: blessed[-1].stored.scores(name, scorer.name) for scorer in primary}
            for name in blessed[-1].stored.values
        }
        if blessed[-1].stored
        else {},
        missing=tuple(_missing(repository, baseline, gone)),
    )


def _read(repository: HistoryRepository, path: str) -> tuple[list[Blessed], str | None]:
    """The baselines, oldest first, each once as long as it stays the same; the commit that removed the last one."""
    commits = repository.commits(path)
    blobs = list(dict.fromkeys(commit.blob for commit in commits if commit.blob))
    stored = dict(zip(blobs, map(read_stored, repository.contents(blobs)), strict=True))
    own = Project.at(repository.root).suites
    suites = repository.objects([(commit.sha, _suite_file(commit.path, own)) for commit in commits])
    found: list[Blessed] = []
    gone, blob = None, None
    for commit, suite in zip(commits, suites, strict=True):
        if commit.blob is None:
            gone = gone or commit.sha
        elif commit.blob != blob or gone:
            found.append(Blessed(commit, stored[commit.blob], gone, suite))
            gone = None
        blob = commit.blob
    return found, gone


def _suite_file(baseline: str, own: str | None) -> str:
    """Where the suite of a baseline is: in the project's own folder, else beside the folder of the baselines."""
    path = PurePosixPath(baseline)
    return str((PurePosixPath(own) if own else path.parent.parent) / f"{path.stem}.yaml")


def read_stored(raw: bytes) -> Stored | None:
    """The baseline in a file; None where it is none."""
    try:
        return Stored.model_validate_json(raw)
    except ValidationError:
        return None


def _read_labels(repository: HistoryRepository, cases: str, blessed: Sequence[Blessed]) -> Labels:
    """The labels that each baseline rests on, from the first commit that has them; None where they cannot be read."""
    first: dict[Key, str] = {}
    for each in blessed:
        for key in each.stored.cases.items() if each.stored else ():
            first.setdefault(key, each.commit.sha)
    wanted = [key for key in first if "\n" not in key[0]]
    blobs = repository.objects([(first[key], f"{cases}/{key[0]}/case.yaml") for key in wanted])
    distinct = list(dict.fromkeys(blob for blob in blobs if blob))
    read = dict(zip(distinct, map(_labels, repository.contents(distinct)), strict=True))
    return {key: read[blob] if blob else None for key, blob in zip(wanted, blobs, strict=True)}


def _labels(raw: bytes) -> LabelSet | None:
    told = plain_yaml(raw)
    if not isinstance(told, dict):
        return None
    try:
        points: Sequence[Mapping[str, Any]] = told.get("decision_points") or ()
        gold = {str(point["id"]): max(point["accept"], key=point["accept"].get) for point in points}
        return LabelSet(gold, str(told.get("pair_id") or told["id"]))
    except (AttributeError, KeyError, TypeError, ValueError):
        return None  # labels of another shape than today


def summaries(stored: Stored, labels: Labels, scorers: Sequence[ScorerInfo]) -> tuple[Summary, ...]:
    """Every score of every variant: primary metrics with intervals, costs as plain means."""
    return tuple(
        _macro(stored, name, scorer, labels) if scorer.macro else _over_cases(stored, name, scorer, labels)
        for name in stored.values
        for scorer in scorers
    )


def _macro(stored: Stored, variant: str, scorer: ScorerInfo, labels: Labels) -> Summary:
    """Grades of decision points, averaged by gold node; no value where labels of some are not known."""
    states: list[tuple[str, str, str]] = []
    row: list[float] = []
    for case, points in sorted(stored.states.get(variant, {}).items()):
        told = labels.get((case, stored.cases.get(case, "")))
        if told is None or not told.gold.keys() >= points.keys():
            return _summary(stored, variant, scorer, 0, None, None)
        states += [(case, told.gold[point], told.cluster) for point in sorted(points)]
        row += [points[point] for point in sorted(points)]
    if not row:
        return _summary(stored, variant, scorer, 0, None, None)
    mean = macro_mean(row, [gold for _, gold, _ in states])
    return _summary(
        stored, variant, scorer, len({case for case, *_ in states}), mean, _graded(tuple(row), tuple(states))
    )


def _over_cases(stored: Stored, variant: str, scorer: ScorerInfo, labels: Labels) -> Summary:
    scores = stored.scores(variant, scorer.name)
    values = tuple(scores.values())
    mean = sum(values) / len(values) if values else None
    if not scorer.primary or not values:
        return _summary(stored, variant, scorer, len(values), mean, None)
    hits = sum(value == 1 for value in values) if all(value in (0, 1) for value in values) else None
    told = [(case, labels.get((case, stored.cases.get(case, "")))) for case in scores]
    clusters = tuple(known.cluster if known else case for case, known in told)
    return _summary(stored, variant, scorer, len(values), mean, _interval(values, clusters), hits)


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


def _flips(earlier: Sequence[Blessed], now: Blessed, scorers: Sequence[ScorerInfo]) -> Iterator[Flip]:
    """Cases whose score differs from that of the last baseline that could be read."""
    was = next((each.stored for each in reversed(earlier) if each.stored), None)
    if was is None or now.stored is None:
        return
    for variant in now.stored.values:
        for scorer in scorers:
            before = was.scores(variant, scorer.name)
            for case, score in now.stored.scores(variant, scorer.name).items():
                if case in before and abs(before[case] - score) > _SAME:
                    yield Flip(
                        variant=variant,
                        endpoint=scorer.name,
                        case=case,
                        was=before[case],
                        now=score,
                        relabelled=_relabelled(was, now.stored, case),
                    )


def _relabelled(was: Stored, now: Stored, case: str) -> bool:
    return was.scorers != now.scorers or was.cases.get(case) != now.cases.get(case)


def _red_cases(line: Sequence[Blessed], endpoints: Sequence[str]) -> tuple[Red, ...]:
    """Cases of the last baseline that fail one of the pass-or-fail `endpoints`, those that fail longest first."""
    last = line[-1].stored
    found = (
        _red(line, variant, endpoint, case)
        for variant in (last.values if last else ())
        for endpoint in endpoints
        for case, score in (last.scores(variant, endpoint) if last else {}).items()
        if score < 1
    )
    return tuple(sorted(found, key=lambda red: (-red.baselines, red.variant, red.endpoint, red.case)))


def _red(line: Sequence[Blessed], variant: str, endpoint: str, case: str) -> Red:
    back = [
        (each, each.stored, each.stored.values[variant][case][endpoint])
        for each in reversed(line)
        if each.stored and endpoint in each.stored.values.get(variant, {}).get(case, {})
    ]
    passed = next((place for place, (*_, score) in enumerate(back) if score >= 1), None)
    red = back[:passed]
    return Red(
        case=case,
        variant=variant,
        endpoint=endpoint,
        value=red[0][2],
        since=red[-1][0].commit.sha,
        date=red[-1][0].commit.date[:10],
        baselines=len(red),
        always=passed is None,
        relabelled=tuple(
            now.commit.sha for (now, stored, _), (_, was, _) in pairwise(red) if _relabelled(was, stored, case)
        ),
    )


def _marks(before: Blessed, now: Blessed) -> Iterator[HistoryMark]:
    """What changed from one baseline to the next; what either does not say is no change."""
    if now.gone is not None:
        yield HistoryMark(kind="gone", text=f"was removed in {now.gone[:7]}, and blessed anew")
    if before.commit.path != now.commit.path:
        yield HistoryMark(kind="renamed", text=f"{before.commit.path} is now {now.commit.path}")
    elif before.suite and now.suite and before.suite != now.suite:
        yield HistoryMark(kind="suite", text="the suite's file: its variants, models or limits")
    was, told = before.stored, now.stored
    if was is None or told is None:
        yield HistoryMark(kind="unread", text="one of the two baselines cannot be read")
    else:
        yield from _of_baselines(was, told)


def _of_baselines(was: Stored, told: Stored) -> Iterator[HistoryMark]:
    for verb, left in (("new", _beyond(told.values, was.values)), ("gone", _beyond(was.values, told.values))):
        if left:
            yield HistoryMark(kind="variants", text=f"{verb}: {_named(left)}", variants=left)
    if changed := _changed(was.prompts, told.prompts):
        yield HistoryMark(kind="prompt", text=f"prompt of {_named(changed)}", variants=changed)
    if changed := _changed(was.topology, told.topology):
        yield HistoryMark(kind="graph", text=f"nodes or edges of the graph of {_named(changed)}", variants=changed)
    yield from _of_answers(was.answered_by, told.answered_by)
    yield from _of_measures(was, told)


def _of_measures(was: Stored, told: Stored) -> Iterator[HistoryMark]:
    if changed := _changed(was.cases, told.cases):
        yield HistoryMark(kind="labels", text=f"labels, issue or code of {_named(changed)}")
    if was.cases and told.cases:
        for verb, left in (("new", _beyond(told.cases, was.cases)), ("gone", _beyond(was.cases, told.cases))):
            if left:
                yield HistoryMark(kind="dataset", text=f"{counted(len(left), 'case')} {verb}: {_named(left)}")
    if was.scorers and told.scorers and was.scorers != told.scorers:
        yield HistoryMark(kind="scorers", text="scorers")


def _of_answers(was: AnsweredBy, now: AnsweredBy) -> Iterator[HistoryMark]:
    """Variants that other models answered; an agent that only one of the two asked is no change."""
    for name in sorted(was.keys() & now.keys()):
        if _changed(was[name], now[name]):
            before, after = _models(was[name]), _models(now[name])
            change = f"{before} → {after}" if before != after else f"{after}, for other agents or cases than before"
            yield HistoryMark(kind="model", text=f"answers of {name}: {change}", variants=(name,))


def _models(agents: Mapping[str, Mapping[str, tuple[str, ...]]]) -> str:
    return ", ".join(sorted({models for answered in agents.values() for models in answered}))


def _named(names: Sequence[str]) -> str:
    """A few names; more are counted."""
    return some(names, _NAMED)


def _changed(was: Mapping[str, object], now: Mapping[str, object]) -> tuple[str, ...]:
    """What both have, and have differently."""
    return tuple(sorted(name for name in was.keys() & now.keys() if was[name] != now[name]))


def _beyond(left: Iterable[str], right: Container[str]) -> tuple[str, ...]:
    """What only the left one has."""
    return tuple(name for name in left if name not in right)


def _missing(repository: HistoryRepository, baseline: str, gone: str | None) -> Iterator[str]:
    if repository.shallow:
        yield "This clone is shallow: older baselines are missing. `git fetch --unshallow` brings them."
    if repository.uncommitted(baseline):
        yield "The baseline in the checkout is not committed: it is no part of this yet."
    if gone is not None:
        yield f"The baseline was removed in {gone[:7]}; this is what it was until then."


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
    found = [
        (each, flip)
        for each in history.blessings
        for flip in each.flips
        if (flip.variant, flip.endpoint, flip.case) == (variant, endpoint, case)
        and (graded or (flip.was < 1) != (flip.now < 1))
    ]
    by, flip = found[-1] if found else (None, None)
    return CaseTurn(
        variant=variant,
        endpoint=endpoint,
        now=now,
        was=flip.was if flip else None,
        by=by,
        flips=len(found),
    )
