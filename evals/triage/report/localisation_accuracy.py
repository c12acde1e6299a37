"""Localisation as published evaluations score it: accuracies of a run over imported cases, and their table."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evals.models.metrics import Scored
from evals.models.run import CaseInfo, Run, Trial
from evals.models.trace import Trace
from evals.report.numbers import NOTHING, percent
from evals.report.view.page_parts import Table
from evals.statistics.intervals import Interval, fraction_interval, mean, rate_interval
from evals.statistics.rates import format_rate
from evals.triage.report_scorers import filled_at, ranked_files, ranked_functions
from evals.triage.typed_views import published_gold, report_of


@dataclass(frozen=True)
class Metric:
    """One number over `n` instances; `hits` of them for a rate, None for a mean."""

    name: str
    value: float | None
    interval: Interval | None
    n: int
    hits: int | None = None


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
    foreign = [case for case in run.cases if published_gold(case)]
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
    return frozenset(gold.files if (gold := published_gold(case)) else ())


def _functions(case: CaseInfo) -> frozenset[str]:
    return frozenset(gold.whole_names if (gold := published_gold(case)) else ())


def whole_names(trace: Trace) -> tuple[str, ...]:
    """The functions a report names by their whole names (`path::Class.method`), in its order; a constructor is its
    class. What is named by its outermost definition only stays that."""
    report = report_of(trace)
    if report is None:
        return ()
    texts = (report.root_cause_location or "", *report.affected_files)
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


def merged(samples: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """One ranking of several: by the sum of 1 / rank, equal ones by first appearance; without repeats."""
    weights: defaultdict[str, float] = defaultdict(float)
    for sample in samples:
        for rank, name in enumerate(dict.fromkeys(sample), 1):
            weights[name] += 1 / rank
    return tuple(sorted(weights, key=lambda name: -weights[name]))


def published_table(run: Run) -> Table:
    """A row per variant; none where no case is an imported one with gold."""
    sources = [gold.source for case in run.cases if (gold := published_gold(case))]
    rows = [(info.variant.name, accuracies(run, info.variant.name)) for info in run.variants]
    found = next((each for _, each in rows if each), ())
    return Table(
        f"Localisation over {len(sources)} cases whose fix is known ({', '.join(sorted(set(sources)))})",
        ("variant", *(_heading(one.metric) for one in found)),
        tuple((name, *map(published_cell, each)) for name, each in rows if each),
    )


def _heading(metric: Metric) -> str:
    return metric.name if "@" in metric.name else f"{metric.name} (ours)"


def published_cell(found: Accuracy) -> str:
    """Value, interval, and the rows it was made of."""
    metric, rests_on = found.metric, f"n={found.metric.n}/{found.of}"
    if metric.value is None:
        return f"{NOTHING} {rests_on}"
    counted = f"{format_rate(metric.hits, metric.n, 0)} ({metric.hits}/{metric.n})" if metric.hits is not None else None
    interval = f" [{percent(metric.interval.low)}, {percent(metric.interval.high)}]" if metric.interval else ""
    return f"{counted or percent(metric.value)}{interval} {rests_on}"
