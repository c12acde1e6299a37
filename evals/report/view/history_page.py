"""The page of a suite's history, with its charts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from types import SimpleNamespace
from typing import Final

from evals.models.analysis_results import BREAKING, Blessing, CaseTurn, Flip, History, HistoryMark, MarkKind
from evals.models.run import ScorerInfo, Summary
from evals.report.numbers import NOTHING, amount, measure, percent, points, rate
from evals.report.view.page_parts import Table
from evals.report.view.plots import Dot, Frame, Plot, PlotLine, Tick, cannot_plot
from evals.shared.display_text import counted

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


SHOWN: Final = 20
"""Steps that are seen at once, on the page and in the terminal; the page unfolds the others."""
_COSTS: Final = ("cost.llm_calls", "cost.tokens", "cost.price_usd")
_MARKS: Final = {
    "P": "prompt",
    "U": "the suite's file",
    "N": "nodes or edges of the graph",
    "M": "model",
    "L": "labels",
    "D": "dataset",
    "S": "scorers",
    "X": "removed in between",
    "?": "cannot be read",
}


@dataclass(frozen=True)
class FlipRow:
    """Cases that fell or rose on one metric under one variant."""

    variant: str
    endpoint: str
    kind: str
    cases: tuple[str, ...]
    note: str


@dataclass(frozen=True)
class StepView:
    """One baseline in ready strings."""

    commit: str
    date: str
    author: str
    subject: str
    marks: tuple[tuple[str, str], ...]
    flips: tuple[FlipRow, ...]
    unread: str | None


def history_page(history: History) -> SimpleNamespace:
    """The view of a history. Pure: the same history gives the same page."""
    steps = tuple(_step(each) for each in reversed(history.blessings))
    primary = [scorer for scorer in history.scorers if scorer.primary]
    costs = [scorer for scorer in history.scorers if scorer.name in _COSTS and _known(history, scorer)]
    return SimpleNamespace(
        suite=history.suite,
        sentence=sentence(history),
        rests_on=rests_on(history),
        missing=history.missing,
        letters=", ".join(f"{letter} {word}" for letter, word in _MARKS.items() if letter in _seen(history)),
        now=now_table(history),
        metrics=tuple(series_plot(history, told_by(history), scorer) for scorer in primary),
        others=tuple(plot for scorer in (*primary, *costs) for plot in _plots(history, scorer)),
        definitions=tuple((scorer.name, scorer.definition) for scorer in primary),
        costs=tuple(series_plot(history, told_by(history), scorer) for scorer in costs),
        red=red_table(history),
        steps=steps[:SHOWN],
        earlier=steps[SHOWN:],
    )


def sentence(history: History) -> str:
    """Where the candidate stands on the first metric, and how far it came as long as numbers compare."""
    told = headline(history)
    if told is None:
        return f"The last baseline of {history.suite} has no value of a metric."
    scorer, variant, line = told
    last = line[-1][1]
    so = f"{variant} stands at {percent(last.mean)} on {scorer} over {last.n} cases"
    if len(line) == 1:
        return f"{so}; no baseline before compares with it."
    first, began = line[0][1], line[0][0].date
    if first.mean is None or last.mean is None or first.mean == last.mean:
        return f"{so}, as it did on {began}, when {counted(len(line), 'baseline')} that compare began."
    over = counted(len(line), "baseline")
    return f"{so}: {points(last.mean - first.mean)} points since {began}, over {over} that compare."


def headline(history: History) -> tuple[str, str, list[tuple[Blessing, Summary]]] | None:
    """The metric and variant a history is told by, and the last baselines that compare with one another."""
    variant = told_by(history)
    scorer = next((one.name for one in history.scorers if one.primary), "")
    line: list[tuple[Blessing, Summary]] = []
    for each in reversed(history.blessings):
        found = _summary(each, variant, scorer)
        if found is None or found.mean is None:
            break
        line.append((each, found))
        if not each.goes_on:
            break
    return (scorer, variant, line[::-1]) if line else None


def told_by(history: History) -> str:
    """The variant a history is told by: the candidate, else the first."""
    return history.candidate if history.candidate in history.variants else next(iter(history.variants), "")


def rests_on(history: History) -> str:
    """How many baselines there are, from when to when."""
    first, last = history.blessings[0], history.blessings[-1]
    return f"{counted(len(history.blessings), 'baseline')}, blessed from {first.date} to {last.date}."


def now_table(history: History) -> Table:
    """Every variant of the last baseline on every primary metric."""
    last = history.blessings[-1]
    endpoints = _primary(history)
    names = dict.fromkeys(one.variant for one in last.summaries)
    rows = ((name, *(_rate(_summary(last, name, endpoint)) for endpoint in endpoints)) for name in names)
    return Table(f"As blessed in {last.commit[:7]} on {last.date}", ("variant", *endpoints), tuple(rows))


def _primary(history: History) -> list[str]:
    """The primary metrics that scored anything in any baseline; all of them where none did."""
    primary = [scorer.name for scorer in history.scorers if scorer.primary]
    scored = {one.scorer for each in history.blessings for one in each.summaries if one.n}
    return [name for name in primary if name in scored] or primary


def red_table(history: History) -> Table:
    """Cases that do not pass, under every variant, the longest red first."""
    return Table(
        "Cases that do not pass in the last baseline, and since when",
        ("case", "variant", "metric", "value", "red since", "for", "labels or scorers changed since"),
        tuple(
            (
                red.case,
                red.variant,
                red.endpoint,
                percent(red.value),
                f"{red.since[:7]}, {red.date}{' (never seen to pass)' if red.always else ''}",
                counted(red.baselines, "baseline"),
                _relabelled(red.relabelled),
            )
            for red in history.red
        ),
    )


def red_lines(history: History) -> Table:
    """The red cases of the variant a history is told by, in 80 columns."""
    mine = [red for red in history.red if red.variant == told_by(history)]
    return Table(
        f"Cases that do not pass in the last baseline under {told_by(history)}",
        ("case", "metric", "value", "red since", "baselines"),
        tuple(
            (red.case, red.endpoint, percent(red.value), red.since[:7], f"{red.baselines}{' (all)' * red.always}")
            for red in mine
        ),
    )


def step_table(history: History) -> Table:
    """The last steps in 80 columns, the newest last."""
    variant = told_by(history)
    endpoints = _primary(history)
    shown = history.blessings[-SHOWN:]
    hidden = len(history.blessings) - len(shown)
    more = f"; the {hidden} before are on the page" if hidden else ""
    return Table(
        f"Baselines of {history.suite}{more}; values of {variant or 'nobody'}",
        ("commit", "date", "changed", "worse", "better", *(name.replace(".", ".\n") for name in endpoints)),
        tuple(
            (
                each.commit[:7],
                each.date,
                ",\n".join(dict.fromkeys(mark.kind for mark in each.marks))
                or ("first" if each is history.blessings[0] else "nothing"),
                str(len({flip.case for flip in each.flips if flip.now < flip.was})),
                str(len({flip.case for flip in each.flips if flip.now > flip.was})),
                *(
                    percent(found.mean if found else None)
                    for found in (_summary(each, variant, one) for one in endpoints)
                ),
            )
            for each in shown
        ),
    )


def _plots(history: History, scorer: ScorerInfo) -> Iterator[Plot]:
    """A metric of all other variants."""
    for name in history.variants:
        if name != told_by(history) and _known(history, scorer, name):
            yield series_plot(history, name, scorer)


def _known(history: History, scorer: ScorerInfo, variant: str | None = None) -> bool:
    return any(
        one.scorer == scorer.name and one.mean is not None and variant in (None, one.variant)
        for each in history.blessings
        for one in each.summaries
    )


def _seen(history: History) -> set[str]:
    return {LETTERS[mark.kind] for each in history.blessings for mark in each.marks if mark.kind in LETTERS}


def _summary(each: Blessing, variant: str, scorer: str) -> Summary | None:
    return next((one for one in each.summaries if (one.variant, one.scorer) == (variant, scorer)), None)


def _rate(summary: Summary | None) -> str:
    return NOTHING if summary is None else rate(summary)


def _relabelled(commits: Sequence[str]) -> str:
    if not commits:
        return "no"
    return f"once, in {commits[0][:7]}" if len(commits) == 1 else f"{len(commits)} times, last in {commits[0][:7]}"


def _step(each: Blessing) -> StepView:
    return StepView(
        commit=each.commit[:7],
        date=each.date,
        author=each.author,
        subject=each.subject,
        marks=tuple((mark.kind, mark.text) for mark in each.marks),
        flips=tuple(_flip_rows(each)),
        unread=each.unread,
    )


def _flip_rows(each: Blessing) -> Iterator[FlipRow]:
    for (variant, endpoint, rose), flips in groupby(sorted(each.flips, key=_row_of), key=_row_of):
        cases = list(flips)
        relabelled = sum(flip.relabelled for flip in cases)
        note = f"labels or scorers changed of {relabelled}" if relabelled else ""
        yield FlipRow(variant, endpoint, "better" if rose else "worse", tuple(flip.case for flip in cases), note)


def _row_of(flip: Flip) -> tuple[str, str, bool]:
    return flip.variant, flip.endpoint, flip.now > flip.was


def turn_table(history: History, turns: Sequence[CaseTurn], case: str) -> Table:
    """The commit that did it, whose it is, and what else changed there."""
    return Table(
        f"When {case} turned, over {counted(len(history.blessings), 'baseline')} of {history.suite}",
        ("variant", "metric", "now", "before", "turned in", "changed there", "turns"),
        tuple(
            (
                turn.variant,
                turn.endpoint,
                percent(turn.now),
                "the same" if turn.was is None else percent(turn.was),
                _commit(turn),
                (", ".join(mark.text for mark in turn.by.marks) or "nothing else") if turn.by else "",
                str(turn.flips),
            )
            for turn in turns
        ),
    )


def _commit(turn: CaseTurn) -> str:
    if turn.by is None:
        return "never, as far as baselines tell"
    return f"{turn.by.commit[:7]}, {turn.by.date}, {turn.by.author}: {turn.by.subject}"
