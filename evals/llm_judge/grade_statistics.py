"""Grades and preferences as numbers, with intervals."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evals.comparison.metric_summaries import SEED
from evals.llm_judge.judge_questions import JudgeQuestion, JudgeReply, Rubric, Shown
from evals.models.case import Case
from evals.models.judge import Grades, PairAnswer, Position, Preferences, Rate
from evals.models.trace import Trace
from evals.statistics.distributions import two_sided
from evals.statistics.intervals import CONFIDENCE, RESAMPLES, Interval, draws, percentiles, rate_interval, varied

Scale = Sequence[str]
"""The grades of a question, worst first."""


def value(scale: Scale, grade: str) -> float:
    """The place of a grade as a share of its scale: 0 the worst grade, 1 the best."""
    return scale.index(grade) / (len(scale) - 1)


def change(question: str, scale: Scale, before: Grades, after: Grades) -> int | None:
    """By how many steps a grade rose (or fell, below 0); None where one of the two is not there."""
    if question not in before or question not in after:
        return None
    return scale.index(after[question].grade) - scale.index(before[question].grade)


def counts(question: str, scale: Scale, given: Sequence[Grades]) -> dict[str, int]:
    """How often each grade of a scale was given, the best first."""
    names = [grades[question].grade for grades in given if question in grades]
    return {grade: names.count(grade) for grade in reversed(scale)}


@dataclass(frozen=True)
class Graded:
    """The rubric's question about one trial."""

    case_id: str
    variant: str
    sample: int
    question: JudgeQuestion


@dataclass(frozen=True)
class Paired:
    """The question which of two trials of a case wrote the better report, asked with `first` first."""

    case_id: str
    first: str
    second: str
    question: JudgeQuestion


def graded(rubric: Rubric, cases: Mapping[str, Case], traces: Sequence[Trace]) -> tuple[Graded, ...]:
    """One question per exact trial that the judge can be shown, in order."""
    found = ((trace, rubric.dossier(cases[trace.case_id], trace)) for trace in traces)
    return tuple(
        Graded(trace.case_id, trace.variant, trace.sample, rubric.question(trace.case_id, trace.variant, dossier))
        for trace, dossier in found
        if dossier is not None
    )


def paired(
    rubric: Rubric,
    cases: Mapping[str, Case],
    traces: Sequence[Trace],
    candidate: str,
    reference: str,
) -> tuple[Paired, ...]:
    """Two questions per case whose first trials under candidate and reference wrote different things; of equal ones
    nobody has to be asked."""
    found: dict[str, dict[str, Shown]] = {}
    for trace in traces:
        dossier = rubric.dossier(cases[trace.case_id], trace) if not trace.sample else None
        if dossier is not None:
            found.setdefault(trace.case_id, {})[trace.variant] = dossier
    return tuple(
        Paired(case, first, second, question)
        for case, sides in found.items()
        if {candidate, reference} <= sides.keys() and sides[candidate].written != sides[reference].written
        for first, second in ((candidate, reference), (reference, candidate))
        if (question := rubric.pair(case, f"{first} or {second}", sides[first], sides[second])) is not None
    )


Outcomes = Sequence[tuple[str, bool]]
"""What became of each plant: the cluster of its case, and whether the judge was right."""


def rate(outcomes: Sequence[bool]) -> Rate:
    """How many are true, with its interval."""
    hits, n = sum(outcomes), len(outcomes)
    low, high = rate_interval(hits, n) or (None, None)
    return Rate(hits=hits, n=n, low=low, high=high)


def balanced_accuracy(caught: Outcomes, spared: Outcomes) -> tuple[float, Interval] | None:
    """The mean of the two rates, and its 95 % interval when whole clusters are drawn; None where either has nothing.

    Where no draw differs from another, the interval is put together from those of both rates (the square-and-add of
    Newcombe 1998): nothing that varied is no proof that nothing can.
    """
    if not caught or not spared:
        return None
    one, other = rate([ok for _, ok in caught]), rate([ok for _, ok in spared])
    mean = ((one.share or 0.0) + (other.share or 0.0)) / 2
    return mean, varied(_drawn(caught, spared)) or _added(one, other)


def _drawn(caught: Outcomes, spared: Outcomes) -> Interval | None:
    clusters = sorted({cluster for cluster, _ in (*caught, *spared)})
    if len(clusters) < 2:
        return None
    places = {cluster: number for number, cluster in enumerate(clusters)}
    found: list[NDArray[np.float64]] = []
    tables = [_table(outcomes, places) for outcomes in (caught, spared)]
    for times in draws(len(clusters), RESAMPLES, np.random.default_rng(SEED)):
        shares = []
        for right, all_ in tables:
            drawn = times @ all_
            shares.append(np.divide(times @ right, drawn, out=np.full(len(drawn), np.nan), where=drawn > 0))
        found.append((shares[0] + shares[1]) / 2)
    means = np.concatenate(found)
    known = means[~np.isnan(means)]
    return percentiles(known, CONFIDENCE) if len(known) else None


def _table(outcomes: Outcomes, places: dict[str, int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Per cluster, how many were right, and how many there are."""
    owners = [places[cluster] for cluster, _ in outcomes]
    right = np.bincount(owners, weights=[float(ok) for _, ok in outcomes], minlength=len(places))
    return right.astype(np.float64), np.bincount(owners, minlength=len(places)).astype(np.float64)


def _added(one: Rate, other: Rate) -> Interval:
    first, second = one.share or 0.0, other.share or 0.0
    mean = (first + second) / 2
    down = math.hypot(first - (one.low or 0.0), second - (other.low or 0.0)) / 2
    up = math.hypot((one.high or 0.0) - first, (other.high or 0.0) - second) / 2
    return Interval(max(0.0, mean - down), min(1.0, mean + up))


Answers = Mapping[JudgeQuestion, JudgeReply]
Lengths = Mapping[tuple[str, str], int]
"""(case, variant) -> characters of what was written."""


def preferred(item: Paired, answers: Answers) -> str | None:
    """The variant an answer prefers, "tie", or None where there is no answer."""
    heard = answers.get(item.question)
    answer = heard.answer if heard is not None else None
    if not isinstance(answer, PairAnswer):
        return None
    return {"first": item.first, "second": item.second, "tie": "tie"}[answer.preferred]


def preferences(
    items: Sequence[Paired],
    answers: Answers,
    clusters: Mapping[str, str],
    candidate: str,
    reference: str,
    equal: int,
) -> Preferences:
    """The tally over cases. Two orders that name different reports contradict each other, and are no preference; one
    that prefers and one that sees a tie is a preference."""
    better = worse = tie = contradicted = missing = 0
    leaning: dict[str, int] = {}
    for case, said in _by_case(items, answers).items():
        named = {each for each in said if each not in (None, "tie")}
        if None in said:
            missing += 1
        elif len(named) > 1:
            contradicted += 1
        elif not named:
            tie += 1
        else:
            won = named == {candidate}
            better, worse = better + won, worse + (not won)
            leaning[clusters[case]] = leaning.get(clusters[case], 0) + (1 if won else -1)
    decided = [side for side in leaning.values() if side]
    return Preferences(
        candidate=candidate,
        reference=reference,
        better=better,
        worse=worse,
        tie=tie,
        contradicted=contradicted,
        equal=equal,
        missing=missing,
        p_value=two_sided(sum(side > 0 for side in decided), len(decided)) if decided else None,
    )


def position(items: Sequence[Paired], answers: Answers, lengths: Lengths) -> Position:
    """Whether the place, or the length, decides."""
    said = [(item, choice) for item in items if (choice := preferred(item, answers)) is not None]
    decided = [(item, choice) for item, choice in said if choice != "tie"]
    both = [choices for choices in _by_case(items, answers).values() if len(choices) == 2 and None not in choices]
    unequal = [
        (item, choice)
        for item, choice in decided
        if lengths[item.case_id, item.first] != lengths[item.case_id, item.second]
    ]
    return Position(
        pairs=len(both),
        first=rate([choice == item.first for item, choice in decided]),
        consistent=rate([choices[0] == choices[1] for choices in both]),
        longer=rate([choice == _longer(item, lengths) for item, choice in unequal]),
    )


def _longer(item: Paired, lengths: Lengths) -> str:
    return max((item.first, item.second), key=lambda variant: lengths[item.case_id, variant])


def _by_case(items: Sequence[Paired], answers: Answers) -> dict[str, list[str | None]]:
    found: dict[str, list[str | None]] = {}
    for item in items:
        found.setdefault(item.case_id, []).append(preferred(item, answers))
    return found
