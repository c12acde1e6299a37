"""The page of a sweep."""

from collections.abc import Sequence
from itertools import groupby
from types import SimpleNamespace
from typing import Final

from evals.models.case import Split
from evals.report.html_page import render_sheet
from evals.report.numbers import NOTHING, percent, points, probability, rate
from evals.report.view.page_parts import Table
from evals.report.view.plots import Frame, Plot, cannot_plot
from evals.triage.sweep.sweep_result import CHOSEN_ON, CONFIRMED_ON, Behaviour, GridPoint, SplitSummary, Sweep
from evals.triage.variant_settings import ConfidenceFloorSetting

MOST_TICKS: Final = 6


def threshold_plots(sweep: Sweep) -> tuple[Plot, ...]:
    """A plot per guard set that was tried with more than one threshold."""
    measured = {point: one.splits.get(CHOSEN_ON) for one in sweep.behaviours for point in one.points}
    now = next(
        (point.floor for point in measured if point.name == sweep.present and point.floor), ConfidenceFloorSetting()
    )
    series = [
        (guards, _along(list(group), now))
        for guards, group in groupby(sorted((point for point in measured if point.floor), key=_guards), key=_guards)
    ]
    return tuple(
        _plot(sweep, guards, [(point, measured[point]) for point in points], _off(sweep, guards), now)
        for guards, points in series
        if len(points) > 1
    )


def _guards(point: GridPoint) -> str:
    return point.guards


def _along(points: Sequence[GridPoint], now: ConfidenceFloorSetting) -> list[GridPoint]:
    """One point per single threshold: of those with the present number of findings the nearest to the present
    corroborated threshold, which never exceeds the single one."""

    def far(point: GridPoint) -> tuple[int, float]:
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
    along: Sequence[tuple[GridPoint, SplitSummary | None]],
    off: Behaviour | None,
    now: ConfidenceFloorSetting,
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
        across="single threshold",
        up=f"{sweep.score} on {CHOSEN_ON}",
        x_ticks=frame.x_ticks(singles[:: 1 + (len(singles) - 1) // MOST_TICKS]),
        y_ticks=frame.percents_up(),
        lines=tuple(lines),
        whiskers=frame.whiskers((single, summary.score.low, summary.score.high) for single, summary, _ in known),
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


TITLE: Final = "Score against model calls"


def pareto_plot(sweep: Sweep) -> Plot:
    """Score with its interval by model calls per trial, on the cases the choice is made on."""
    placed = [
        (one, summary, summary.llm_calls, summary.score.mean)
        for one in sweep.behaviours
        if (summary := one.splits.get(CHOSEN_ON)) and summary.llm_calls is not None and summary.score.mean is not None
    ]
    rests_on = f"{len(placed)} of {len(sweep.behaviours)} behaviours, {sweep.cases.get(CHOSEN_ON, 0)} {CHOSEN_ON} cases"
    if not placed:
        return cannot_plot(TITLE, rests_on, f"no behaviour is recorded for a {CHOSEN_ON} case")
    across = [calls for _, _, calls, _ in placed]
    bounds = [
        bound for _, one, _, mean in placed for bound in (one.score.low, one.score.high, mean) if bound is not None
    ]
    frame = Frame.around(across, bounds)
    on_front = sorted((calls, score) for one, _, calls, score in placed if one.name in sweep.front)
    return Plot(
        title=TITLE,
        rests_on=rests_on,
        spoken=f"{sweep.score} on {CHOSEN_ON} against model calls per trial, {rests_on}; "
        f"on the front: {', '.join(sweep.front) or 'none'}",
        across="model calls per trial",
        up=f"{sweep.score} on {CHOSEN_ON}",
        x_ticks=frame.x_ticks(sorted({min(across), max(across)}), 1),
        y_ticks=frame.percents_up(),
        lines=(frame.line("curve", on_front),),
        whiskers=frame.whiskers((calls, summary.score.low, summary.score.high) for _, summary, calls, _ in placed),
        dots=tuple(
            frame.dot(
                calls, score, f"{one.name}: {rate(summary.score)}, {calls:.1f} calls", kind=_kind(one, summary, sweep)
            )
            for one, summary, calls, score in placed
        ),
        table=Table(
            "Behaviours by model calls",
            ("setting", "model calls", sweep.score, "on the front"),
            tuple(
                (one.name, f"{calls:.1f}", rate(summary.score), "yes" if one.name in sweep.front else "no")
                for one, summary, calls, _ in sorted(placed, key=lambda each: each[2])
            ),
        ),
    )


def _kind(one: Behaviour, summary: SplitSummary, sweep: Sweep) -> str:
    short = "" if summary.share >= sweep.coverage_floor else " short"
    chosen = " chosen" if one.name == sweep.recommendation.behaviour else ""
    return ("front" if one.name in sweep.front else "hollow") + short + chosen


def sweep_page(sweep: Sweep) -> SimpleNamespace:
    """The view of a sweep. Pure: the same sweep gives the same page."""
    verdict = sweep.recommendation
    splits = ", ".join(f"{count} {split}" for split, count in sorted(sweep.cases.items()))
    return SimpleNamespace(
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
    measured = ("exact", sweep.score, "steps", "questions", "overrides", "model calls", "tokens")
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


def _order(point: GridPoint) -> tuple[str, int, float, float]:
    floor = point.floor
    return (point.guards, floor.min_findings, floor.single, floor.corroborated) if floor else (point.guards, 0, 0, 0)


def _grid(
    key: tuple[str | int | float, ...],
    group: list[GridPoint],
    score: dict[GridPoint, SplitSummary | None],
    sweep: Sweep,
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


def render_sweep(sweep: Sweep) -> str:
    """The page of a sweep: one HTML document."""
    return render_sheet("sweep", sweep_page(sweep), package="evals.triage.report")
