"""A history at the size of a badge: what it is of, its last baselines as a line, and how it stands."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from evals.models.history import Blessing, History
from evals.models.run import Summary
from evals.report.numbers import NOTHING, percent
from evals.report.view.history import headline

LAST: Final = 30  # baselines drawn
_LETTER: Final = 6.6  # width of one in pixels; `textLength` makes it exact in any font
_LINE: Final = 60
_GAP: Final = 6
_TOP: Final = 4
_TALL: Final = 12


@dataclass(frozen=True)
class Badge:
    """Places in pixels; the line is broken where baselines do not compare, a dot is one that stands alone."""

    label: str
    value: str
    spoken: str
    width: str
    label_width: str
    value_at: str
    value_width: str
    lines: tuple[str, ...]
    dots: tuple[tuple[str, str], ...]


def badge_of(history: History) -> Badge:
    """The candidate's first endpoint over the last baselines of the main line."""
    told = headline(history)
    scorer, variant, last = (told[0], told[1], told[2][-1][1].mean) if told else ("", "", None)
    label = f"{history.suite} {variant} {scorer}".strip()
    value = percent(last) if told else NOTHING
    drawn = history.line[-LAST:]
    runs = [list(run) for run in _runs(drawn, variant, scorer, start=_GAP * 2 + len(label) * _LETTER)]
    value_at = _GAP * 3 + len(label) * _LETTER + _LINE
    return Badge(
        label=label,
        value=value,
        spoken=f"{label}: {value}, over the last {len(drawn)} baselines",
        width=f"{value_at + len(value) * _LETTER + _GAP:.0f}",
        label_width=f"{len(label) * _LETTER:.0f}",
        value_at=f"{value_at:.0f}",
        value_width=f"{len(value) * _LETTER:.0f}",
        lines=tuple(" ".join(f"{x},{y}" for x, y in run) for run in runs if len(run) > 1),
        dots=tuple(run[0] for run in runs if len(run) == 1),
    )


def _runs(drawn: Sequence[Blessing], variant: str, scorer: str, start: float) -> Iterator[list[tuple[str, str]]]:
    """Stretches of places that compare one with the next."""
    run: list[tuple[str, str]] = []
    for number, each in enumerate(drawn):
        mean = _mean(each.summaries, variant, scorer)
        if run and (mean is None or not each.goes_on):
            yield run
            run = []
        if mean is not None:
            x = start + _LINE * (number / (len(drawn) - 1) if len(drawn) > 1 else 0.5)
            run.append((f"{x:.1f}", f"{_TOP + (1 - mean) * _TALL:.1f}"))
    if run:
        yield run


def _mean(summaries: Sequence[Summary], variant: str, scorer: str) -> float | None:
    return next((one.mean for one in summaries if (one.variant, one.scorer) == (variant, scorer)), None)
