"""The page of a sweep: what was recommended, every behaviour, where each point of the grid ends up, and the front."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from evals.models.case import Split
from evals.models.sweep import Behaviour, Measure, Point, Sweep
from evals.report.numbers import NOTHING, percent, points, probability, rate
from evals.report.view.plot import Plot as LinePlot
from evals.report.view.sweep_lines import threshold_plots
from evals.report.view.table import Table
from evals.sweep.choose import CHOSEN_ON, CONFIRMED_ON

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 560, 280, 44, 36


@dataclass(frozen=True)
class Dot:
    """One behaviour in the plot: its place, what it is, and whether nothing beats it."""

    x: str
    y: str
    kind: str
    label: str


@dataclass(frozen=True)
class Plot:
    """Score against model calls, ready for an SVG: dots, the line through the front, and labelled ticks."""

    dots: tuple[Dot, ...]
    line: str
    across: tuple[tuple[str, str], ...]
    up: tuple[tuple[str, str], ...]
    spoken: str


@dataclass(frozen=True)
class SweepPage:
    """Everything the template puts in its places; `plot` is None where no behaviour can be placed."""

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
    plot: Plot | None
    thresholds: tuple[LinePlot, ...]


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
        plot=_plot(sweep),
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


def _cells(measure: Measure | None) -> tuple[str, ...]:
    if measure is None:
        return (NOTHING,) * 7
    means = (measure.visits, measure.questions, measure.vetoes, measure.llm_calls, measure.tokens)
    return (
        f"{measure.coverage.exact}/{measure.coverage.total}",
        rate(measure.score),
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
    key: tuple[str | int | float, ...], group: list[Point], score: dict[Point, Measure | None], sweep: Sweep
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


def _cell(measure: Measure | None) -> str:
    if measure is None or measure.score.mean is None:
        return NOTHING
    short = f" ({measure.coverage.exact}/{measure.coverage.total})" if measure.share < 1 else ""
    return f"{percent(measure.score.mean)}{short}"


def _plot(sweep: Sweep) -> Plot | None:
    placed = [
        (one, measure.llm_calls, measure.score.mean)
        for one in sweep.behaviours
        if (measure := one.splits.get(CHOSEN_ON)) and measure.llm_calls is not None and measure.score.mean is not None
    ]
    if not placed:
        return None
    most = max(calls for _, calls, _ in placed) * 1.1 or 1.0
    dots = [
        (one, _LEFT + calls / most * (_WIDTH - _LEFT), (1 - score) * (_HEIGHT - _BOTTOM))
        for one, calls, score in placed
    ]
    on_front = sorted((x, y) for one, x, y in dots if one.name in sweep.front)
    return Plot(
        dots=tuple(
            Dot(f"{x:.1f}", f"{y:.1f}", _kind(one, sweep), f"{one.name}: {_cell(one.splits.get(CHOSEN_ON))}")
            for one, x, y in dots
        ),
        line=" ".join(f"{x:.1f},{y:.1f}" for x, y in on_front),
        across=tuple(
            (f"{_LEFT + part * (_WIDTH - _LEFT):.1f}", f"{part * most:.1f}") for part in (0.0, 0.25, 0.5, 0.75, 1.0)
        ),
        up=tuple((f"{(1 - part) * (_HEIGHT - _BOTTOM):.1f}", f"{part:.0%}") for part in (0.0, 0.5, 1.0)),
        spoken=f"{sweep.score} on {CHOSEN_ON} against model calls per trial, {len(dots)} behaviours; "
        f"on the front: {', '.join(sweep.front) or 'none'}",
    )


def _kind(one: Behaviour, sweep: Sweep) -> str:
    measure = one.splits[CHOSEN_ON]
    short = "" if measure.share >= sweep.coverage_floor else " short"
    chosen = " chosen" if one.name == sweep.recommendation.behaviour else ""
    return ("front" if one.name in sweep.front else "beaten") + short + chosen
