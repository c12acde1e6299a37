"""The page of a sweep: what was recommended, every behaviour, where each point of the grid ends up, and the front."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from evals.models.case import Split
from evals.models.sweep import Behaviour, Point, SplitSummary, Sweep
from evals.report.numbers import NOTHING, percent, points, probability, rate
from evals.report.view.pareto import pareto_plot
from evals.report.view.plot import Plot
from evals.report.view.sweep_lines import threshold_plots
from evals.report.view.table import Table
from evals.sweep.choose import CHOSEN_ON, CONFIRMED_ON


@dataclass(frozen=True)
class SweepPage:
    """Everything the template puts in its places."""

    suite: str
    variant: str
    score: str
    word: str
    kind: str
    sentence: str
    exit_code: str
    rests_on: str
    behaviours: Table
    confirmation: Table
    grids: tuple[Table, ...]
    front: Plot
    thresholds: tuple[Plot, ...]


def sweep_page(sweep: Sweep) -> SweepPage:
    """The view of a sweep. Pure: the same sweep gives the same page."""
    verdict = sweep.recommendation
    splits = ", ".join(f"{count} {split}" for split, count in sorted(sweep.cases.items()))
    return SweepPage(
        suite=sweep.suite,
        variant=sweep.variant,
        score=sweep.score,
        word=verdict.status,
        kind={0: "not-worse", 1: "worse"}.get(verdict.exit_code, "cannot-judge"),
        sentence=verdict.sentence,
        exit_code=str(verdict.exit_code),
        rests_on=f"{sweep.points} points over {splits} cases, told apart by {sweep.executed} trials; answered by "
        f"{', '.join(sweep.recorded_by) or 'nobody yet'}.",
        behaviours=_behaviours(sweep),
        confirmation=_confirmation(sweep),
        grids=tuple(_grids(sweep)),
        front=pareto_plot(sweep),
        thresholds=threshold_plots(sweep),
    )


def _behaviours(sweep: Sweep) -> Table:
    splits: list[Split] = sorted(sweep.cases)
    measured = ("exact", sweep.score, "visits", "questions", "vetoes", "model calls", "tokens")
    return Table(
        f"Settings that behave alike are one row; on the front: {', '.join(sweep.front) or 'none'}",
        ("setting", "points", *(f"{split}: {name}" for split in splits for name in measured)),
        tuple(
            (
                one.name + _marks(one, sweep),
                str(len(one.points)),
                *(cell for split in splits for cell in _cells(one.splits.get(split))),
            )
            for one in sweep.behaviours
        ),
    )


def _marks(one: Behaviour, sweep: Sweep) -> str:
    marks = ["now"] if any(point.name == sweep.present for point in one.points) else []
    marks += ["recommended"] if one.name == sweep.recommendation.behaviour else []
    return f" ({', '.join(marks)})" if marks else ""


def _cells(summary: SplitSummary | None) -> tuple[str, ...]:
    if summary is None:
        return (NOTHING,) * 7
    means = (summary.visits, summary.questions, summary.vetoes, summary.llm_calls, summary.tokens)
    return (
        f"{summary.coverage.exact}/{summary.coverage.total}",
        rate(summary.score),
        *(NOTHING if mean is None else f"{mean:,.1f}" for mean in means),
    )


def _confirmation(sweep: Sweep) -> Table:
    item = sweep.recommendation.comparison
    head = ("against the present setting", "points", "95 %", "broke", "mended", "p (Holm)", "says")
    caption = f"Confirmation on {CONFIRMED_ON}, whose cases had no part in the choice"
    if item is None:
        return Table(caption, head, ())
    interval = f"{points(item.low)} to {points(item.high)}" if item.low is not None else NOTHING
    flips = (str(len(item.broke)), str(len(item.mended)))
    row = (item.left, points(item.delta), interval, *flips, probability(item.p_holm), item.verdict)
    return Table(caption, head, (row,))


def _grids(sweep: Sweep) -> Sequence[Table]:
    """Per guard set and number of findings: single threshold down, corroborated across, the score on `tune` inside."""
    score = {point: one.splits.get(CHOSEN_ON) for one in sweep.behaviours for point in one.points}
    floors = sorted((point for point in score if point.floor), key=_order)
    return [
        _grid(key, list(group), score, sweep) for key, group in groupby(floors, key=lambda point: _order(point)[:2])
    ]


def _order(point: Point) -> tuple[str, int, float, float]:
    floor = point.floor
    return (point.guards, floor.min_findings, floor.single, floor.corroborated) if floor else (point.guards, 0, 0, 0)


def _grid(
    key: tuple[str | int | float, ...], group: list[Point], score: dict[Point, SplitSummary | None], sweep: Sweep
) -> Table:
    singles = sorted({point.floor.single for point in group if point.floor})
    others = sorted({point.floor.corroborated for point in group if point.floor})
    place = {(point.floor.single, point.floor.corroborated): point for point in group if point.floor}
    return Table(
        f"{key[0]}, corroborated by {key[1]} findings: {sweep.score} on {CHOSEN_ON}",
        ("single \\ corroborated", *(f"{other:.2f}" for other in others)),
        tuple(
            (
                f"{single:.2f}",
                *(_cell(score[place[single, other]]) if (single, other) in place else "" for other in others),
            )
            for single in singles
        ),
    )


def _cell(summary: SplitSummary | None) -> str:
    if summary is None or summary.score.mean is None:
        return NOTHING
    short = f" ({summary.coverage.exact}/{summary.coverage.total})" if summary.share < 1 else ""
    return f"{percent(summary.score.mean)}{short}"
