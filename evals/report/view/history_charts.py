"""Charts of a metric over baselines."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from evals.models.history_result import BREAKING, Blessing, History, HistoryMark, MarkKind
from evals.models.run import ScorerInfo, Summary
from evals.report.numbers import amount, measure
from evals.report.view.page_parts import Table
from evals.report.view.plots import Dot, Frame, Plot, PlotLine, Tick, cannot_plot

LETTERS: Final[dict[MarkKind, str]] = {
    "prompt": "P",
    "suite": "U",
    "graph": "N",
    "model": "M",
    "labels": "L",
    "dataset": "D",
    "scorers": "S",
    "gone": "X",
    "unread": "?",
}
"""What stands above a plot where something changed; other marks are in the list alone."""
_FEW: Final = 60  # baselines up to which each has its dot and its interval; of more, those at which something changes
_APART: Final = 9.0  # letters need so much room


@dataclass(frozen=True)
class Spot:
    """A value at its place: the number of its baseline, counted from 0 over all of them."""

    place: int
    blessing: Blessing
    summary: Summary
    mean: float
    joined: bool


def series_plot(history: History, variant: str, scorer: ScorerInfo) -> Plot:
    """The values with their intervals, joined as long as they compare."""
    line = list(_spots(history, variant, scorer.name))
    rests_on = f"{variant}, {len(line)} of {len(history.blessings)} baselines"
    if not line:
        return cannot_plot(scorer.name, rests_on, f"no baseline says what {scorer.name} was")
    frame, share, up = _scale(history, line, scorer)
    few = len(line) <= _FEW
    turning = list(_turning(line))
    shown = line if few else turning
    runs = list(_runs(line))
    return Plot(
        title=scorer.name,
        rests_on=rests_on,
        spoken=f"{scorer.name} of {rests_on}: {_said(line[0], scorer)} to {_said(line[-1], scorer)}",
        across=f"baselines, {line[0].blessing.date} to {line[-1].blessing.date}",
        up=scorer.name,
        y_ticks=up,
        lines=(
            *(() if few else _bands(frame, runs)),
            *(frame.line("curve", [(spot.place, share(spot.mean)) for spot in run]) for run in runs),
            *_rules(frame, history, variant),
        ),
        whiskers=frame.whiskers(
            (spot.place, spot.summary.low, spot.summary.high)
            for spot in (line if few else [run[0] for run in runs if len(run) == 1])
        ),
        dots=tuple(_dot(frame, spot, share(spot.mean), scorer, few=few) for spot in shown),
        table=Table(
            f"{scorer.name} of {variant}, where it changes",
            ("baseline", "date", scorer.name, "compares with the one before"),
            tuple(
                (
                    spot.blessing.commit[:7],
                    spot.blessing.date,
                    amount(spot.summary, scorer),
                    "yes" if spot.joined else "no",
                )
                for spot in turning
            ),
        ),
        notes=tuple(_notes(frame, history, variant)),
    )


def _spots(history: History, variant: str, scorer: str) -> Iterator[Spot]:
    before = -1
    for place, each in enumerate(history.blessings):
        summary = next((one for one in each.summaries if (one.variant, one.scorer) == (variant, scorer)), None)
        if summary is not None and summary.mean is not None:
            yield Spot(place, each, summary, summary.mean, each.goes_on and 0 <= before == place - 1)
            before = place


def _scale(
    history: History, spots: Sequence[Spot], scorer: ScorerInfo
) -> tuple[Frame, Callable[[float], float], tuple[Tick, ...]]:
    """Fractions stand between the lowest and highest bound, amounts between 0 and a little more than the largest."""
    frame = Frame(-0.5, len(history.blessings) - 0.5)
    if scorer.unit == "fraction":
        bounds = [bound for spot in spots for bound in (spot.mean, spot.summary.low, spot.summary.high)]
        around = Frame.around([0.0], [bound for bound in bounds if bound is not None])
        frame = replace(frame, bottom=around.bottom, top=around.top)
        return frame, lambda mean: mean, frame.percents_up()
    most = max(spot.mean for spot in spots) * 1.1 or 1.0
    ticks = tuple(Tick(frame.y(part), measure(part * most, scorer.unit)) for part in (0.0, 0.5, 1.0))
    return frame, lambda mean: mean / most, ticks


def _runs(line: Sequence[Spot]) -> Iterator[list[Spot]]:
    """Stretches of baselines that compare one with the next."""
    run: list[Spot] = []
    for spot in line:
        if run and not spot.joined:
            yield run
            run = []
        run.append(spot)
    yield run


def _turning(line: Sequence[Spot]) -> Iterator[Spot]:
    """The first and the last, and where the value, what it rests on, or what it means changes."""
    for before, spot in zip((None, *line), line, strict=False):
        if before is None or spot is line[-1] or not spot.joined or spot.summary != before.summary:
            yield spot


def _bands(frame: Frame, runs: Sequence[Sequence[Spot]]) -> Iterator[PlotLine]:
    for run in runs:
        low = [(spot.place, spot.summary.low) for spot in run if spot.summary.low is not None]
        high = [(spot.place, spot.summary.high) for spot in run if spot.summary.high is not None]
        if len(low) > 1:
            yield frame.band(low, high)


def _dot(frame: Frame, spot: Spot, share: float, scorer: ScorerInfo, *, few: bool) -> Dot:
    kind = "" if few else "small"
    return frame.dot(spot.place, share, _said(spot, scorer), kind=kind, r=4 if few else 1.2)


def _said(spot: Spot, scorer: ScorerInfo) -> str:
    return f"{spot.blessing.commit[:7]}, {spot.blessing.date}: {amount(spot.summary, scorer)}"


def _marked(history: History, variant: str) -> Iterator[tuple[int, tuple[HistoryMark, ...]]]:
    for place, each in enumerate(history.blessings):
        marks = tuple(
            mark for mark in each.marks if mark.kind in LETTERS and (not mark.variants or variant in mark.variants)
        )
        if marks:
            yield place, marks


def _rules(frame: Frame, history: History, variant: str) -> Iterator[PlotLine]:
    """Between a baseline and the one before it; where numbers stop to compare, with a gap that is seen at any size."""
    for place, marks in _marked(history, variant):
        upright = [(place - 0.5, frame.bottom), (place - 0.5, frame.top)]
        if any(mark.kind in BREAKING for mark in marks):
            yield frame.line("gap", upright)
            yield frame.line("rule breaks", upright)
        else:
            yield frame.line("rule", upright)


def _notes(frame: Frame, history: History, variant: str) -> Iterator[Tick]:
    """Letters where there is room for them."""
    free = 0.0
    for place, marks in _marked(history, variant):
        letters = "".join(dict.fromkeys(LETTERS[mark.kind] for mark in marks))
        at, half = float(frame.x(place - 0.5)), _APART * len(letters) / 2
        if at - half >= free:
            free = at + half
            yield Tick(frame.x(place - 0.5), letters)
