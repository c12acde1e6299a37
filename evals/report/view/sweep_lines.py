"""Score by threshold: one plot per guard set, along the single-finding threshold, all else as it is now."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from evals.models.suite import ConfidenceFloor
from evals.models.sweep import Behaviour, Point, SplitSummary, Sweep
from evals.report.numbers import rate
from evals.report.view.plot import Frame, Plot, cannot_plot
from evals.report.view.table import Table
from evals.sweep.choose import CHOSEN_ON

MOST_TICKS: Final = 6


def threshold_plots(sweep: Sweep) -> tuple[Plot, ...]:
    """A plot per guard set that was tried with more than one threshold."""
    measured = {point: one.splits.get(CHOSEN_ON) for one in sweep.behaviours for point in one.points}
    now = next((point.floor for point in measured if point.name == sweep.present and point.floor), ConfidenceFloor())
    series = [
        (guards, _along(list(group), now))
        for guards, group in groupby(sorted((point for point in measured if point.floor), key=_guards), key=_guards)
    ]
    return tuple(
        _plot(sweep, guards, [(point, measured[point]) for point in points], _off(sweep, guards), now)
        for guards, points in series
        if len(points) > 1
    )


def _guards(point: Point) -> str:
    return point.guards


def _along(points: Sequence[Point], now: ConfidenceFloor) -> list[Point]:
    """One point per single threshold: of those with the present number of findings the nearest to the present
    corroborated threshold, which never exceeds the single one."""

    def far(point: Point) -> tuple[int, float]:
        floor = point.floor or now
        return abs(floor.min_findings - now.min_findings), abs(floor.corroborated - min(now.corroborated, floor.single))

    singles = sorted({point.floor.single for point in points if point.floor})
    return [
        min((point for point in points if point.floor and point.floor.single == single), key=far) for single in singles
    ]


def _off(sweep: Sweep, guards: str) -> Behaviour | None:
    """The behaviour of the guard set without a floor."""
    return next(
        (one for one in sweep.behaviours for point in one.points if point.guards == guards and point.floor is None),
        None,
    )


def _plot(
    sweep: Sweep,
    guards: str,
    along: Sequence[tuple[Point, SplitSummary | None]],
    off: Behaviour | None,
    now: ConfidenceFloor,
) -> Plot:
    cases = sweep.cases.get(CHOSEN_ON, 0)
    rests_on = f"corroborated {now.corroborated:.2f}, {now.min_findings} findings; {cases} {CHOSEN_ON} cases"
    known = [
        (point.floor.single, summary, summary.score.mean)
        for point, summary in along
        if point.floor and summary is not None and summary.score.mean is not None
    ]
    if not known:
        return cannot_plot(guards, rests_on, f"no threshold is recorded for a {CHOSEN_ON} case")
    singles = [single for single, _, _ in known]
    frame = Frame(min(singles) - 0.05, max(singles) + 0.05)
    told = [f"single {single:.2f}: {rate(summary.score)}" for single, summary, _ in known]
    without = off.splits.get(CHOSEN_ON) if off else None
    level = without.score.mean if without is not None else None
    lines = [frame.line("curve", [(single, mean) for single, _, mean in known])]
    if level is not None:
        lines.insert(0, frame.line("ideal", [(frame.left, level), (frame.right, level)]))
        told.append(f"without a floor (dashed): {rate(without.score)}" if without is not None else "")
    return Plot(
        title=guards,
        rests_on=rests_on,
        spoken=f"{sweep.score} by single threshold under {guards}, {rests_on}. {'. '.join(told)}",
        cannot="",
        across="single threshold",
        up=f"{sweep.score} on {CHOSEN_ON}",
        x_ticks=frame.x_ticks(singles[:: 1 + (len(singles) - 1) // MOST_TICKS]),
        y_ticks=frame.percents_up(),
        lines=tuple(lines),
        whiskers=tuple(
            frame.whisker(single, summary.score.low, summary.score.high)
            for single, summary, _ in known
            if summary.score.low is not None and summary.score.high is not None
        ),
        dots=tuple(
            frame.dot(single, mean, words, kind="" if summary.share >= sweep.coverage_floor else "hollow")
            for (single, summary, mean), words in zip(known, told, strict=False)
        ),
        table=Table(
            f"{sweep.score} by single threshold",
            ("single", "exact", sweep.score),
            tuple(
                (f"{single:.2f}", f"{summary.coverage.exact}/{summary.coverage.total}", rate(summary.score))
                for single, summary, _ in known
            ),
        ),
    )
