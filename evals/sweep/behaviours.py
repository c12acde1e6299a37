"""From explored cases to behaviours: points with equal traces everywhere are one, scored once per split."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

from evals.judging.scoring import score_trials
from evals.judging.summary import coverage_of, summarise
from evals.models.case import Case, Split
from evals.models.outcome import Scored
from evals.models.run import ScorerInfo, Trial
from evals.models.sweep import Behaviour, Point, SplitSummary
from evals.sweep.explore import Explored

Trials = Mapping[str, tuple[Trial, ...]]
"""Behaviour -> its trials, one per case."""


def behaviours(
    cases: Mapping[str, Case], points: Sequence[Point], explored: Sequence[Explored], scorer: ScorerInfo
) -> tuple[tuple[Behaviour, ...], Trials]:
    """The behaviours in order of their first point, and the trials each of them rests on."""
    scored = [score_trials(cases, case.traces) for case in explored]
    alike: dict[tuple[int, ...], list[Point]] = defaultdict(list)
    for number, point in enumerate(points):
        alike[tuple(case.which[number] for case in explored)].append(point)
    trials = {
        same[0].name: tuple(_under(same[0].name, scored[case][trace]) for case, trace in enumerate(which))
        for which, same in alike.items()
    }
    found = tuple(
        Behaviour(
            name=same[0].name, points=tuple(same), splits=_splits(cases, trials[same[0].name], same[0].name, scorer)
        )
        for same in alike.values()
    )
    return found, trials


def _under(name: str, trial: Trial) -> Trial:
    return trial.model_copy(update={"trace": trial.trace.model_copy(update={"variant": name})})


def _splits(
    cases: Mapping[str, Case], trials: Sequence[Trial], name: str, scorer: ScorerInfo
) -> dict[Split, SplitSummary]:
    by_split: dict[Split, list[Trial]] = defaultdict(list)
    for trial in trials:
        by_split[cases[trial.trace.case_id].labels.split].append(trial)
    return {split: _summary(cases, mine, name, scorer) for split, mine in sorted(by_split.items())}


def _summary(cases: Mapping[str, Case], trials: Sequence[Trial], name: str, scorer: ScorerInfo) -> SplitSummary:
    mine = [cases[trial.trace.case_id] for trial in trials]
    exact = [trial for trial in trials if trial.trace.provenance.label == "exact"]
    return SplitSummary(
        coverage=coverage_of(trials, name),
        score=summarise(trials, mine, (name,), (scorer,))[0],
        visits=_mean([float(len(trial.trace.visits)) for trial in exact]),
        questions=_mean([float(len(trial.trace.exchanges)) for trial in exact]),
        vetoes=_mean([float(sum(len(one.vetoes) for one in trial.trace.decisions)) for trial in exact]),
        llm_calls=_mean(_values(exact, "cost.llm_calls")),
        tokens=_mean(_values(exact, "cost.tokens")),
    )


def _values(trials: Sequence[Trial], scorer: str) -> list[float]:
    outcomes = (trial.outcomes.get(scorer) for trial in trials)
    return [outcome.value for outcome in outcomes if isinstance(outcome, Scored)]


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
