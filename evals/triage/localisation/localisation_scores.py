"""Scores of fault rankings, ours and as published."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evals.models.metrics import Scored
from evals.models.run import CaseInfo, Run, Trial
from evals.models.trace import Trace
from evals.statistics.intervals import Interval, fraction_interval, mean, rate_interval
from evals.statistics.ranking_metrics import (
    all_at,
    average_precision,
    filled_at,
    harmonic_mean,
    hit_at,
    precision,
    recall,
    reciprocal_rank,
)
from evals.triage.localisation.ranking_files import LEVELS, Level, Named, merged
from evals.triage.root_cause_scorers import ranked_files, ranked_functions

Gold = frozenset[str]
Ranking = tuple[str, ...]
Pairs = Sequence[tuple[Ranking, Gold]]
Rate = Callable[[Ranking, Gold, int], bool]

RATES: Final[Mapping[str, Rate]] = {"Hit": hit_at, "Acc": all_at, "Acc (LocAgent)": filled_at}
MEANS: Final[Mapping[str, Callable[[Ranking, Gold], float]]] = {
    "MRR": reciprocal_rank,
    "MAP": average_precision,
    "precision": precision,
    "recall": recall,
    "F1": lambda named, gold: harmonic_mean(precision(named, gold), recall(named, gold)),
}


@dataclass(frozen=True)
class Metric:
    """One number over `n` instances; `hits` of them for a rate, None for a mean."""

    name: str
    value: float | None
    interval: Interval | None
    n: int
    hits: int | None = None


@dataclass(frozen=True)
class LevelScores:
    """One level. `unlabelled` instances say nothing of it in the gold file; `empty` ones have nothing to find there,
    `silent` of them a prediction that rightly names nothing; of the `scored` rest, `unpredicted` have none at all."""

    level: Level
    scored: int
    unpredicted: int
    empty: int
    silent: int
    unlabelled: int
    metrics: tuple[Metric, ...]


def score(gold: Mapping[str, Named], predictions: Mapping[str, Named], ks: Sequence[int]) -> tuple[LevelScores, ...]:
    """The levels that both sides speak of, in the order file, function, whole name."""
    return tuple(
        _level(level, gold, predictions, ks)
        for level in LEVELS
        if _speaks(gold.values(), level) and _speaks(predictions.values(), level)
    )


def _speaks(rows: Iterable[Named], level: Level) -> bool:
    return any(level in row for row in rows)


def _level(
    level: Level,
    gold: Mapping[str, Named],
    predictions: Mapping[str, Named],
    ks: Sequence[int],
) -> LevelScores:
    wanted = {name: frozenset(row[level]) for name, row in gold.items() if level in row}
    named = {name: predictions.get(name, {}).get(level, ()) for name in wanted}
    scored = [name for name, right in wanted.items() if right]
    empty = [name for name, right in wanted.items() if not right]
    pairs = [(named[name], wanted[name]) for name in scored]
    return LevelScores(
        level=level,
        scored=len(scored),
        unpredicted=sum(name not in predictions for name in scored),
        empty=len(empty),
        silent=sum(name in predictions and not named[name] for name in empty),
        unlabelled=len(gold) - len(wanted),
        metrics=(*_rates(pairs, ks), *_means(pairs)),
    )


def _rates(pairs: Pairs, ks: Sequence[int]) -> list[Metric]:
    metrics = []
    for name, rate in RATES.items():
        for k in ks:
            hits = sum(rate(ranked, gold, k) for ranked, gold in pairs)
            value = hits / len(pairs) if pairs else None
            metrics.append(Metric(f"{name}@{k}", value, rate_interval(hits, len(pairs)), len(pairs), hits))
    return metrics


def _means(pairs: Pairs) -> list[Metric]:
    metrics = []
    for name, formula in MEANS.items():
        values = [formula(ranked, gold) for ranked, gold in pairs]
        interval = fraction_interval(values, range(len(values)))
        metrics.append(Metric(name, mean(values), interval, len(values)))
    return metrics


FILE_RANKS: Final = (1, 3, 5)
FUNCTION_RANKS: Final = (5, 10)
OURS: Final = ("root_cause.hit", "root_cause.function_hit")
SEED: Final = 0
"""Of the bootstrap over rows where samples of one disagree: the same run gives the same bytes."""


@dataclass(frozen=True)
class Accuracy:
    """One number of one variant, made of `metric.n` rows of the `of` that have gold at this level."""

    metric: Metric
    of: int


def accuracies(run: Run, variant: str) -> tuple[Accuracy, ...]:
    """File Acc@1, 3, 5, function Acc@5, 10, and ours; empty where no case of the run is an imported one with gold."""
    foreign = [case for case in run.cases if case.published is not None]
    if not foreign:
        return ()
    trials = _trials(run, variant)
    return (
        *_accuracies("file", FILE_RANKS, {case.id: _files(case) for case in foreign}, trials),
        *_accuracies("function", FUNCTION_RANKS, {case.id: _functions(case) for case in foreign}, trials),
        *(_ours(scorer, foreign, trials) for scorer in OURS),
    )


def _trials(run: Run, variant: str) -> dict[str, list[Trial]]:
    """The trials of each case, where all of its samples are wholly on the tape."""
    found: dict[str, list[Trial]] = {}
    for trial in run.trials:
        if trial.trace.variant == variant:
            found.setdefault(trial.trace.case_id, []).append(trial)
    return {
        case: mine for case, mine in found.items() if all(trial.trace.provenance.label == "exact" for trial in mine)
    }


def _accuracies(
    level: str, ranks: Sequence[int], gold: Mapping[str, frozenset[str]], trials: Mapping[str, Sequence[Trial]]
) -> Iterator[Accuracy]:
    stated = {case: right for case, right in gold.items() if right}
    read = ranked_files if level == "file" else whole_names
    named = {case: merged([read(trial.trace) for trial in trials[case]]) for case in stated if case in trials}
    for k in ranks:
        hits = sum(filled_at(ranked, stated[case], k) for case, ranked in named.items())
        value = hits / len(named) if named else None
        yield Accuracy(
            Metric(f"{level} Acc@{k}", value, rate_interval(hits, len(named)), len(named), hits), len(stated)
        )


def _ours(scorer: str, foreign: Sequence[CaseInfo], trials: Mapping[str, Sequence[Trial]]) -> Accuracy:
    """Our score over the same rows: samples averaged inside a case first."""
    means = []
    for case in foreign:
        outcomes = [trial.outcomes.get(scorer) for trial in trials.get(case.id, ())]
        values = [outcome.value for outcome in outcomes if isinstance(outcome, Scored)]
        if values and len(values) == len(outcomes):
            means.append(sum(values) / len(values))
    of = len([case for case in foreign if _functions(case)]) if "function" in scorer else len(foreign)
    if all(value in (0, 1) for value in means):
        hits = round(sum(means))
        return Accuracy(Metric(scorer, mean(means), rate_interval(hits, len(means)), len(means), hits), of)
    interval = fraction_interval(means, range(len(means)))
    return Accuracy(Metric(scorer, mean(means), interval, len(means)), of)


def _files(case: CaseInfo) -> frozenset[str]:
    return frozenset(case.published.files if case.published else ())


def _functions(case: CaseInfo) -> frozenset[str]:
    return frozenset(case.published.whole_names if case.published else ())


def whole_names(trace: Trace) -> tuple[str, ...]:
    """The functions a report names by their whole names (`path::Class.method`), in its order; a constructor is its
    class. What is named by its outermost definition only stays that."""
    if trace.report is None:
        return ()
    texts = (trace.report.root_cause_location or "", *trace.report.affected_files)
    named = (name for function in ranked_functions(trace) for name in _dotted(function, texts))
    return tuple(dict.fromkeys(named))


def _dotted(function: str, texts: Sequence[str]) -> Iterator[str]:
    """`path::Class` with every dotted tail it is named with, in texts that name its file."""
    path, _, outermost = function.partition("::")
    pattern = re.compile(rf"(?<=[:\s\"'`(]){re.escape(outermost)}(?P<tail>(?:\.[A-Za-z_]\w*)*)(?!\w)")
    file = path.rpartition("/")[2]
    tails = [match["tail"] for text in texts if file in text for match in pattern.finditer(text)]
    for tail in tails or [""]:
        yield f"{path}::{outermost}{tail.removesuffix('.__init__')}"
