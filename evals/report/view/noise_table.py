"""The noise of metrics in words: a sentence and a column per metric."""

from collections.abc import Sequence

from evals.analysis.noise import ChanceRate, MeanGate, MetricNoise
from evals.report.numbers import NOTHING, percent
from evals.report.view.page_parts import Table


def noise_sentence(found: MetricNoise, gate: MeanGate) -> str:
    """How often the gate is red by chance, and whether a paired test would do better."""
    if not found.spread:
        most = f"at most {percent(found.most_changing)} of the cases may change (95 %)"
        return f"{found.metric}: no value changed in {found.runs} runs, so that nothing is red by chance; {most}."
    fell = f"a mean more than {gate.drop * 100:g} points lower" if gate.drop else "any lower mean"
    said = f"{fell} is red in {percent(found.fell)} of comparisons"
    if found.below_threshold:
        said = (
            f"a threshold of {(gate.threshold or 0) * 100:g} % is red in {_rate(found.below_threshold)} of runs, {said}"
        )
    return f"{found.metric}: with nothing changed, {said}."


def noise_table(found: Sequence[MetricNoise], gate: MeanGate, margin: float) -> Table:
    """One row per fact, one column per metric."""
    rows = [
        ("cases; runs", *(f"{each.cases}; {each.runs}" for each in found)),
        ("mean", *(percent(each.mean) for each in found)),
        ("spread of one run's mean", *(_points(each.spread) for each in found)),
        ("cases that change, at most", *(percent(each.most_changing) for each in found)),
    ]
    if gate.threshold is not None:
        rows += [
            ("red by threshold", *(_rate(each.below_threshold) for each in found)),
            ("drop the threshold sees", *(_points(each.threshold_drop) for each in found)),
        ]
    rows += [
        ("red by lower mean", *(percent(each.fell) for each in found)),
        ("drop two means show", *(_points(each.mean_drop) for each in found)),
        ("drop `evals compare` sees", *(_points(each.paired_drop) for each in found)),
        (f"cases enough for {margin * 100:g} points", *(_count(each.enough_cases) for each in found)),
        (f"repeats enough for {margin * 100:g}", *(_count(each.enough_repeats) for each in found)),
    ]
    return Table("", ("", *(each.metric for each in found)), tuple(rows))


def _rate(rate: ChanceRate | None) -> str:
    return f"{percent(rate.rate)} [{percent(rate.low)}, {percent(rate.high)}]" if rate else NOTHING


def _points(size: float | None) -> str:
    return NOTHING if size is None else f"{size * 100:.1f} points"


def _count(number: int | None) -> str:
    return NOTHING if number is None else f"{number:,}"
