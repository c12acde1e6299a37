"""Score against cost: every behaviour a dot, those that nothing beats joined by a line."""

from typing import Final

from evals.models.sweep import Behaviour, SplitSummary, Sweep
from evals.report.numbers import rate
from evals.report.view.plot import Frame, Plot, cannot_plot
from evals.report.view.table import Table
from evals.sweep.choose import CHOSEN_ON

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
            frame.whisker(calls, summary.score.low, summary.score.high)
            for _, summary, calls, _ in placed
            if summary.score.low is not None and summary.score.high is not None
        ),
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
