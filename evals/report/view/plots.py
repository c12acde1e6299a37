"""Plots as SVG coordinates."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from evals.report.view.page_parts import Table

WIDTH: Final = 290
HEIGHT: Final = 230
LEFT: Final = 50
BOTTOM: Final = 40
TOP: Final = 10
RIGHT: Final = 20
_EMPTY: Final = Table("", (), ())
_QUARTERS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)

Spot = tuple[float, float]
"""A place in the units of the data."""


@dataclass(frozen=True)
class Tick:
    """A label at a place on an axis."""

    at: str
    label: str


@dataclass(frozen=True)
class PlotLine:
    """A polyline, or with `kind` "band" a filled outline."""

    kind: str
    points: str


@dataclass(frozen=True)
class Whisker:
    """An interval, upright."""

    x: str
    low: str
    high: str


@dataclass(frozen=True)
class Dot:
    """A value; `label` says it in words."""

    kind: str
    x: str
    y: str
    r: str
    label: str
    name: str = ""
    """Stands beside the dot, on its `side`; where it is empty, `label` is seen on hovering only."""
    side: Literal["left", "right"] = "right"


@dataclass(frozen=True)
class Plot:
    """One plot. `rests_on` stands above it; where `cannot` is not empty it stands in place of the drawing."""

    title: str
    rests_on: str
    spoken: str = ""
    cannot: str = ""
    across: str = ""
    up: str = ""
    x_ticks: tuple[Tick, ...] = ()
    y_ticks: tuple[Tick, ...] = ()
    lines: tuple[PlotLine, ...] = ()
    whiskers: tuple[Whisker, ...] = ()
    dots: tuple[Dot, ...] = ()
    table: Table = _EMPTY
    notes: tuple[Tick, ...] = ()
    """Letters along the upper edge; what they stand for is said beside the plot."""


def cannot_plot(title: str, rests_on: str, why: str) -> Plot:
    """A plot of nothing, which says so."""
    return Plot(title, rests_on, cannot=f"cannot judge: {why}")


@dataclass(frozen=True)
class Frame:
    """Where the data goes: across from `left` to `right`, up from `bottom` to `top`."""

    left: float = 0.0
    right: float = 1.0
    bottom: float = 0.0
    top: float = 1.0

    @classmethod
    def around(cls, across: Sequence[float], up: Sequence[float]) -> "Frame":
        """The range of the data with a tenth of it to spare on each side; `up` are shares, which end at 0 and 1."""
        spare = (max(across) - min(across)) / 10 or abs(max(across)) / 10 or 1.0
        room = max((max(up) - min(up)) / 10, 0.01)
        return cls(min(across) - spare, max(across) + spare, max(0.0, min(up) - room), min(1.0, max(up) + room))

    def x(self, value: float) -> str:
        """The place of a value across."""
        share = (value - self.left) / (self.right - self.left)
        return f"{LEFT + share * (WIDTH - LEFT - RIGHT):.1f}"

    def y(self, value: float) -> str:
        """The place of a value upwards."""
        share = (value - self.bottom) / (self.top - self.bottom)
        return f"{TOP + (1 - share) * (HEIGHT - TOP - BOTTOM):.1f}"

    def line(self, kind: str, spots: Sequence[Spot]) -> PlotLine:
        """A line through places."""
        return PlotLine(kind, " ".join(f"{self.x(x)},{self.y(y)}" for x, y in spots))

    def band(self, low: Sequence[Spot], high: Sequence[Spot]) -> PlotLine:
        """What lies between two lines."""
        return self.line("band", (*low, *reversed(high)))

    def whiskers(self, intervals: Iterable[tuple[float, float | None, float | None]]) -> tuple[Whisker, ...]:
        """Intervals, each as its place across and its bounds; one with an unknown bound is left out."""
        return tuple(
            Whisker(self.x(x), self.y(low), self.y(high))
            for x, low, high in intervals
            if low is not None and high is not None
        )

    def dot(self, x: float, y: float, label: str, *, kind: str = "", r: float = 4) -> Dot:
        """A value at a place."""
        return Dot(kind, self.x(x), self.y(y), f"{r:.1f}", label)

    def x_ticks(self, values: Sequence[float], digits: int = 2) -> tuple[Tick, ...]:
        """Labelled values across."""
        return tuple(Tick(self.x(value), f"{value:.{digits}f}") for value in values)

    def percents_across(self) -> tuple[Tick, ...]:
        """Quarters across, in per cent."""
        return tuple(Tick(self.x(part), _percent(part)) for part in _QUARTERS)

    def percents_up(self) -> tuple[Tick, ...]:
        """Quarters upwards, in per cent."""
        values = [self.bottom + part * (self.top - self.bottom) for part in _QUARTERS]
        return tuple(Tick(self.y(value), _percent(value)) for value in values)


def _percent(part: float) -> str:
    return f"{part * 100:.0f} %"
