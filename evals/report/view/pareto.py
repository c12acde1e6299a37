"""Score against cost: every behaviour a dot, those that nothing beats joined by a line."""

from typing import Final

from evals.models.sweep import Behaviour, Measure, Sweep
from evals.report.numbers import rate
from evals.report.view.plot import Frame, Plot, cannot_plot
from evals.report.view.table import Table
from evals.sweep.choose import CHOSEN_ON

TITLE: Final = "Score against model calls"


def pareto_plot(sweep: Sweep) -> Plot:
    """Score with its interval by model calls per trial, on the cases the choice is made on."""
    placed = [
        (one, measure, measure.llm_calls, measure.score.mean)
        for one in sweep.behaviours
        if (measure := one.splits.get(CHOSEN_ON)) and measure.llm_calls is not None and measure.score.mean is not None
    ]
    rests_on = f"{len(placed)} of {len(sweep.behaviours)} behaviours, {sweep.cases.get(CHOSEN_ON, 0)} {CHOSEN_ON} cases"
    if not placed:
        return cannot_plot(TITLE, rests_on, f"no behaviour is recorded for a {CHOSEN_ON} case")
    most = max(calls for _, _, calls, _ in placed) * 1.1 or 1.0
    frame = Frame(0.0, most)
    on_front = sorted((calls, score) for one, _, calls, score in placed if one.name in sweep.front)
    return Plot(
        title=TITLE,
        rests_on=rests_on,
        spoken=f"{sweep.score} on {CHOSEN_ON} against model calls per trial, {rests_on}; "
        f"on the front: {', '.join(sweep.front) or 'none'}",
        cannot="",
        across="model calls per trial",
        up=f"{sweep.score} on {CHOSEN_ON}",
        x_ticks=frame.x_ticks([part * most for part in (0.0, 0.25, 0.5, 0.75, 1.0)], 1),
        y_ticks=frame.percents_up(),
        lines=(frame.line("curve", on_front),),
        whiskers=tuple(
            frame.whisker(calls, measure.score.low, measure.score.high)
            for _, measure, calls, _ in placed
            if measure.score.low is not None and measure.score.high is not None
        ),
        dots=tuple(
            frame.dot(
                calls, score, f"{one.name}: {rate(measure.score)}, {calls:.1f} calls", kind=_kind(one, measure, sweep)
            )
            for one, measure, calls, score in placed
        ),
        table=Table(
            "Behaviours by model calls",
            ("setting", "model calls", sweep.score, "on the front"),
            tuple(
                (one.name, f"{calls:.1f}", rate(measure.score), "yes" if one.name in sweep.front else "no")
                for one, measure, calls, _ in sorted(placed, key=lambda each: each[2])
            ),
        ),
    )


def _kind(one: Behaviour, measure: Measure, sweep: Sweep) -> str:
    short = "" if measure.share >= sweep.coverage_floor else " short"
    chosen = " chosen" if one.name == sweep.recommendation.behaviour else ""
    return ("front" if one.name in sweep.front else "hollow") + short + chosen
