"""Reliability diagram and risk-coverage curve of stated confidence."""

from collections.abc import Mapping, Sequence
from math import sqrt
from types import SimpleNamespace
from typing import Final

from evals.models.metrics import Calibration, Measure, ReliabilityBin, Source, ThresholdPoint
from evals.models.run import Run
from evals.report.numbers import NOTHING, percent
from evals.report.view.page_parts import Table
from evals.report.view.plots import Frame, Plot, cannot_plot

NOBODY: Final = "no exact trial states a confidence"
ECE: Final[dict[Source, str]] = {"supervisor": "confidence.ece", "report": "confidence.report_ece"}
SPOKEN_BY: Final[dict[Source, str]] = {
    "supervisor": "the supervisor, at the decision for the writer",
    "report": "the report",
}


def calibration_views(run: Run) -> tuple[SimpleNamespace, ...]:
    """The candidate's and the reference's first and open; none for a run from before there were any."""
    errors = {(item.variant, item.name): item for item in run.measures}
    first = {run.candidate: 0, run.reference: 1}
    ordered = sorted(run.calibrations, key=lambda item: (first.get(item.variant, 2), item.source != "supervisor"))
    return tuple(_view(item, errors, shown=item.variant in first and item.source == "supervisor") for item in ordered)


def _view(item: Calibration, errors: Mapping[tuple[str, str], Measure], *, shown: bool) -> SimpleNamespace:
    """One source of confidence of one variant: a sentence with its error beside what chance gives, and three plots."""
    rests_on = f"n = {item.n} of {item.of} trials"
    plots = (_reliability(item, rests_on), _risk(item, rests_on), _above(item, rests_on))
    return SimpleNamespace(
        variant=item.variant,
        source=SPOKEN_BY[item.source],
        sentence=f"{_error(errors.get((item.variant, ECE[item.source])))} ({rests_on})",
        shown=shown,
        plots=plots,
    )


def _error(found: Measure | None) -> str:
    """The calibration error, never without the band that chance alone gives."""
    if found is None or found.value is None:
        return f"Expected calibration error: cannot judge: {found.why_not if found else NOBODY}"
    told = f"Expected calibration error {percent(found.value)}"
    if found.null_low is None or found.null_high is None:
        return f"{told}; without a null band it is no evidence"
    band = f"{percent(found.null_low)} to {percent(found.null_high)}"
    if found.value > found.null_high:
        return f"{told}, above the {band} that chance alone gives a perfectly calibrated speaker: miscalibrated"
    return f"{told}, within the {band} that chance alone gives a perfectly calibrated speaker: no evidence against it"


def _reliability(item: Calibration, rests_on: str) -> Plot:
    title = "Reliability"
    filled = [each for each in item.bins if each.n]
    if not filled:
        return cannot_plot(title, rests_on, NOBODY)
    frame = Frame()
    told = [_bin_in_words(each) for each in filled]
    return Plot(
        title=title,
        rests_on=rests_on,
        spoken=f"Reliability, {rests_on}. {'. '.join(told)}",
        across="stated confidence",
        up="share right",
        x_ticks=frame.percents_across(),
        y_ticks=frame.percents_up(),
        lines=(frame.line("ideal", ((0, 0), (1, 1))),),
        whiskers=frame.whiskers((_stated(each), each.accuracy_low, each.accuracy_high) for each in filled),
        dots=tuple(
            frame.dot(_stated(each), each.correct / each.n, words, r=3 + 5 * sqrt(each.n / item.n))
            for each, words in zip(filled, told, strict=True)
        ),
        table=Table(
            "Reliability by bins of stated confidence",
            ("confidence", "n", "mean confidence", "right", "95 %"),
            tuple(
                (
                    f"{each.low:.1f} to {each.high:.1f}",
                    str(each.n),
                    percent(each.mean_confidence),
                    f"{each.correct} ({percent(each.correct / each.n)})",
                    _interval(each.accuracy_low, each.accuracy_high),
                )
                for each in filled
            ),
        ),
    )


def _stated(each: ReliabilityBin) -> float:
    return each.mean_confidence if each.mean_confidence is not None else (each.low + each.high) / 2


def _bin_in_words(each: ReliabilityBin) -> str:
    known = _interval(each.accuracy_low, each.accuracy_high)
    return f"Mean confidence {percent(each.mean_confidence)}: {each.correct} of {each.n} right, 95 % {known}"


def _risk(item: Calibration, rests_on: str) -> Plot:
    """Risk is 1 - correct / covered; its interval is the mirrored one of the share that is right."""
    title = "Risk against coverage"
    points = [point for point in item.risk_coverage if point.covered]
    if not points:
        return cannot_plot(title, rests_on, NOBODY)
    frame = Frame()
    spots = [(point.covered / point.n, 1 - point.correct / point.covered) for point in points]
    told = [
        f"Confidence {point.threshold:.2f} or more: {point.covered} of {point.n} answered, "
        f"{point.covered - point.correct} wrong, 95 % {_interval(*_risk_interval(point))}"
        for point in points
    ]
    banded = [(x, *_risk_interval(point)) for (x, _), point in zip(spots, points, strict=True)]
    low = [(x, value) for x, value, _ in banded if value is not None]
    high = [(x, value) for x, _, value in banded if value is not None]
    return Plot(
        title=title,
        rests_on=rests_on,
        spoken=f"Risk against coverage, {rests_on}. {'. '.join(told)}",
        across="coverage: share answered",
        up="risk: share of them wrong",
        x_ticks=frame.percents_across(),
        y_ticks=frame.percents_up(),
        lines=(frame.band(low, high), frame.line("curve", spots)),
        dots=tuple(frame.dot(x, y, words, r=3) for (x, y), words in zip(spots, told, strict=True)),
        table=Table(
            "Risk against coverage, a row per stated confidence",
            ("confidence ≥", "covers", "wrong", "risk 95 %"),
            tuple(
                (
                    f"{point.threshold:.2f}",
                    f"{point.covered} of {point.n}",
                    f"{point.covered - point.correct} ({percent(1 - point.correct / point.covered)})",
                    _interval(*_risk_interval(point)),
                )
                for point in points
            ),
        ),
    )


def _risk_interval(point: ThresholdPoint) -> tuple[float | None, float | None]:
    return (None, None) if point.low is None or point.high is None else (1 - point.high, 1 - point.low)


def _above(item: Calibration, rests_on: str) -> Plot:
    title = "Right, given confidence ≥ t"
    points = [point for point in item.thresholds if point.covered]
    if not item.n:
        return cannot_plot(title, rests_on, NOBODY)
    if not points:
        lowest = min((point.threshold for point in item.thresholds), default=0.0)
        return cannot_plot(title, rests_on, f"no confidence reaches {lowest:.2f}")
    frame = Frame(*_span(item.thresholds))
    return Plot(
        title=title,
        rests_on=rests_on,
        spoken=f"Share right given confidence of at least t, {rests_on}. {'. '.join(map(_above_in_words, points))}",
        across="threshold t (hollow: coverage)",
        up="P(right | c ≥ t)",
        x_ticks=frame.x_ticks([point.threshold for point in item.thresholds if _round(point.threshold)], 1),
        y_ticks=frame.percents_up(),
        lines=(frame.line("curve", [(point.threshold, point.correct / point.covered) for point in points]),),
        whiskers=frame.whiskers((point.threshold, point.low, point.high) for point in points),
        dots=(
            *(
                frame.dot(point.threshold, point.covered / point.n, _above_in_words(point), kind="hollow", r=3)
                for point in item.thresholds
                if point.n
            ),
            *(frame.dot(point.threshold, point.correct / point.covered, _above_in_words(point)) for point in points),
        ),
        table=Table(
            "P(right, given confidence ≥ t)",
            ("t", "covers", "right", "95 %"),
            tuple(
                (
                    f"{point.threshold:.2f}",
                    f"{point.covered} of {point.n}",
                    f"{point.correct} ({percent(point.correct / point.covered)})" if point.covered else NOTHING,
                    _interval(point.low, point.high),
                )
                for point in item.thresholds
            ),
        ),
    )


def _span(points: Sequence[ThresholdPoint]) -> tuple[float, float]:
    values = [point.threshold for point in points]
    return min(values) - 0.05, max(values) + 0.05


def _round(threshold: float) -> bool:
    return abs(threshold * 10 - round(threshold * 10)) < 1e-9


def _above_in_words(point: ThresholdPoint) -> str:
    rated = f"{point.correct} right, 95 % {_interval(point.low, point.high)}" if point.covered else "nothing to judge"
    return f"Confidence {point.threshold:.2f} or more: {point.covered} of {point.n} covered, {rated}"


def _interval(low: float | None, high: float | None) -> str:
    return NOTHING if low is None or high is None else f"{percent(low)} to {percent(high)}"
