"""Tables per variant: metrics, cost, repeats, metamorphic pairs, confusion of decisions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Final, Literal

from evals.application_pack import load_pack
from evals.models.case import Choice
from evals.models.metrics import (
    Confusion,
    Measure,
    MeasureInfo,
    PassHat,
    Redraw,
    RepeatAgreement,
    SampleAgreement,
    Twins,
)
from evals.models.run import CostChange, Run, Summary
from evals.models.suite import CostName
from evals.report.numbers import MINUS, NOTHING, amount, measure, percent, rate, signed
from evals.report.view.page_parts import Table, without_empty
from evals.report.view.plots import Dot, Frame, Plot, Tick

COUNTED: Final = {"frozen states": "decision points"}
"""What is counted in `run.json`, as the reader knows it."""


def changes_table(run: Run, most: int | None = None) -> Table:
    """What changed since the baseline, or differs from the reference, `most` rows of it (None: all)."""
    shown = run.changes[:most]
    hidden = len(run.changes) - len(shown)
    more = f"; {hidden} more in the report" if hidden else ""
    other = {each.reference for each in run.changes}
    if run.changes and "" not in other:
        told = tuple((each.case_id, each.what, each.was, each.now) for each in shown)
        caption = f"What differs between {run.reference} and {run.candidate}{more}"
        return Table(caption, ("case", "what", run.reference, run.candidate), told)
    rows = tuple((each.case_id, each.variant, each.what, each.was, each.now) for each in shown)
    if other - {""}:
        caption = f"Changed since the baseline; of {run.candidate}, what differs from {run.reference}{more}"
        return Table(caption, ("case", "variant", "what", "before", "now"), rows)
    return Table(f"Changed since the baseline{more}", ("case", "variant", "what", "blessed", "now"), rows)


def measure_table(run: Run) -> Table:
    """Every metric over all cases that has something to measure, by variant."""
    names = tuple(info.variant.name for info in run.variants)
    found = {(item.variant, item.name): item for item in run.measures}
    return Table(
        "Over all cases of a variant: value [95 %], and what it was made of",
        ("metric", "better", *names),
        tuple(
            (info.name, info.better, *(cell(found[name, info.name], info) for name in names)) for info in measured(run)
        ),
    )


def measured(run: Run) -> tuple[MeasureInfo, ...]:
    """The metrics over all cases that have something to measure: none of pairs where there are no pairs."""
    some = {item.name for item in run.measures if item.of}
    return tuple(info for info in run.measure_infos if info.name in some)


def cell(item: Measure, info: MeasureInfo) -> str:
    """A measure in one cell, never without its count; a missing one says why."""
    rests_on = f"{item.n} of {item.of} {COUNTED.get(info.counted, info.counted)}"
    if item.value is None:
        return f"{NOTHING}: {item.why_not} ({rests_on})"
    interval = f" [{_shown(item.low, info)}, {_shown(item.high, info)}]" if item.low is not None else ""
    return f"{_shown(item.value, info)}{interval} ({rests_on}){_bounds(item, info)}{_chance(item, info)}"


def _bounds(item: Measure, info: MeasureInfo) -> str:
    if item.pessimistic is None or item.pessimistic == item.optimistic:
        return ""
    return f", {_shown(item.pessimistic, info)} to {_shown(item.optimistic, info)} with the rest"


def _chance(item: Measure, info: MeasureInfo) -> str:
    if item.null_low is None:
        return ""
    return f", chance alone {_shown(item.null_low, info)} to {_shown(item.null_high, info)}"


def _shown(value: float | None, info: MeasureInfo) -> str:
    return percent(value) if info.unit == "fraction" else signed(value)


def sample_table(run: Run) -> Table:
    """pass^k and agreement by variant; no row where every case was run once."""
    names = [each.variant for each in run.samples]
    if not names:
        return Table("", (), ())
    rows = [
        (f"{first.endpoint}, pass^{k}", *(_chance_samples(each.pass_hat[index], k) for each in run.samples))
        for index, first in enumerate(run.samples[0].pass_hat)
        for k in range(1, run.samples[0].samples + 1)
    ]
    rows.append(("decision points all repeats agree on", *(_share(each.decisions) for each in run.samples)))
    rows.append(("cases all repeats take one route in", *(_share(each.routes) for each in run.samples)))
    return Table(f"{run.samples[0].samples} repeats of every case", ("over repeats", *names), tuple(rows))


def in_words(found: SampleAgreement) -> str:
    """One line for a terminal or a comment."""
    chances = [
        f"{each.endpoint} pass^{found.samples} {_chance_samples(each, found.samples)}" for each in found.pass_hat
    ]
    passed = f"{found.variant}, {found.samples} repeats per case: {', '.join(chances)}"
    if not (found.decisions.of or found.routes.of):  # values of another tool
        return passed
    agreed = f"{_share(found.decisions)} decision points and on the route of {_share(found.routes)} cases"
    return f"{passed}; all repeats agree on {agreed}"


def redraw_table(run: Run) -> Table:
    """What one sample a side would have said, endpoint by endpoint; no row where every case was run once."""
    rows = [(each.endpoint, _counted(each)) for each in run.redraws]
    return Table(
        f"{run.candidate} against {run.reference} with one repeat a side, every way to choose them",
        ("metric", "verdicts, and how often"),
        tuple(rows),
    )


def redraws_in_words(run: Run) -> str:
    """One line for a terminal or a comment; empty where every case was run once."""
    said = [f"{each.endpoint} {_counted(each)}" for each in run.redraws]
    if not said:
        return ""
    sides = f"{run.candidate} against {run.reference} in {run.redraws[0].draws} choices"
    return f"with one repeat a side, {sides}: {'; '.join(said)}"


def _counted(found: Redraw) -> str:
    ranked = sorted(found.verdicts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{verdict} {count}" for verdict, count in ranked)


def _chance_samples(found: PassHat, k: int) -> str:
    return f"{percent(found.values[k - 1])} ({found.cases} cases)" if found.values else NOTHING


def _share(found: RepeatAgreement) -> str:
    return f"{found.agreed} of {found.of}" if found.of else NOTHING


_FATES = {1.0: "passed", 0.0: "failed"}


def twin_table(run: Run) -> Table:
    """A row per pair and endpoint, a column per variant; the last row of each endpoint counts."""
    names = tuple(info.variant.name for info in run.variants)
    found = {(item.endpoint, item.pair_id, item.variant): item for item in run.twins}
    endpoints = dict.fromkeys(item.endpoint for item in run.twins)
    rows = []
    for endpoint in endpoints:
        pairs = dict.fromkeys(item.pair_id for item in run.twins if item.endpoint == endpoint)
        for pair in pairs:
            mine = [found.get((endpoint, pair, name)) for name in names]
            first = next(item for item in mine if item is not None)
            rows.append((pair, " and ".join(first.slices), endpoint, *(_cell(item) for item in mine)))
        rows.append(("all pairs", "", endpoint, *(_alike(run.twins, endpoint, name) for name in names)))
    return Table("Metamorphic pairs, in the order of their slices", ("pair", "slices", "metric", *names), tuple(rows))


def _cell(item: Twins | None) -> str:
    if item is None:
        return NOTHING
    told = ", ".join("unjudged" if value is None else _FATES.get(value, percent(value)) for value in item.values)
    return told if item.consistent is None else f"{'✓' if item.consistent else '✗'} {told}"


def _alike(twins: Sequence[Twins], endpoint: str, variant: str) -> str:
    judged = [
        item.consistent
        for item in twins
        if (item.endpoint, item.variant) == (endpoint, variant) and item.consistent is not None
    ]
    return f"{sum(judged)} of {len(judged)} alike" if judged else NOTHING


LEVELS: Final = 4
"""Shades of a cell, by the share of its row."""
AXES: Final[dict[str, tuple[str, str]]] = {
    "frozen states": ("best node ↓ chosen →", "decision points answered"),
    "trials": ("chosen ↓ where it went →", "recorded decisions, those of exact trials"),
}

Kind = Literal["right", "defensible", "wrong", "overruled"]


@dataclass(frozen=True)
class ConfusionSquare:
    """One cell; `level` is its shade, from 0 (none) to `LEVELS`. `label` says it in words."""

    count: str
    kind: str
    level: str
    label: str


@dataclass(frozen=True)
class ConfusionRow:
    """Decisions with one node in the rows, and how many they are."""

    node: str
    squares: tuple[ConfusionSquare, ...]
    n: str


def confusion_views(run: Run) -> tuple[SimpleNamespace, ...]:
    """The candidate's and the reference's first; none where the cases have no such decisions."""
    first = {run.candidate: 0, run.reference: 1}
    ordered = sorted((item for item in run.confusions if item.of), key=lambda item: first.get(item.variant, 2))
    order = _order_of_nodes(run)
    return tuple(_view_confusion(item, order) for item in ordered)


def _order_of_nodes(run: Run) -> list[str]:
    """The nodes as the first specification lists them, then what else a router chose."""
    spec = next((case.route_spec for case in run.cases if case.route_spec is not None), None)
    cells = [node for item in run.confusions for cell in item.cells for node in (cell.row, cell.column)]
    return list(dict.fromkeys([*(spec.node_caps if spec else load_pack().node_caps), *sorted(cells)]))


def _view_confusion(item: Confusion, order: Sequence[str]) -> SimpleNamespace:
    """One matrix; where there is nothing to count, `cannot` stands in its place. `diagonal`: every decision is the one
    of its row, so that there is nothing to look at."""
    corner, counted = AXES[item.decisions]
    used = {node for cell in item.cells for node in (cell.row, cell.column)}
    nodes: tuple[Choice, ...] = tuple(node for node in order if node in used)
    return SimpleNamespace(
        variant=item.variant,
        title=f"{item.variant}, {'decision points' if item.decisions == 'frozen states' else item.decisions}",
        corner=corner,
        rests_on=f"{item.n} of {item.of} {counted}",
        cannot="" if item.n else f"cannot judge: none of {item.of} {counted}",
        columns=nodes,
        rows=tuple(_row(item, node, nodes) for node in nodes if any(cell.row == node for cell in item.cells)),
        diagonal=item.n > 0 and all(cell.row == cell.column for cell in item.cells),
    )


def _row(item: Confusion, node: Choice, nodes: Iterable[Choice]) -> ConfusionRow:
    mine = {cell.column: cell for cell in item.cells if cell.row == node}
    total = sum(cell.count for cell in mine.values())
    squares = []
    for column in nodes:
        cell = mine.get(column)
        if cell is None:
            squares.append(ConfusionSquare("", "", "0", ""))
            continue
        kind = _kind(item, same=column == node, credit=cell.credit)
        share = cell.count / total
        label = f"{node} → {column}: {cell.count} of {total} ({percent(share)}), {kind}"
        squares.append(ConfusionSquare(str(cell.count), kind, str(max(1, round(share * LEVELS))), label))
    return ConfusionRow(node, tuple(squares), str(total))


def _kind(item: Confusion, *, same: bool, credit: float) -> Kind:
    if same:
        return "right"
    if item.decisions == "trials":
        return "overruled"
    return "defensible" if credit > 0 else "wrong"


COLUMNS: Final[dict[str, str]] = {
    "cost.visits": "steps",
    "cost.llm_calls": "LLM calls",
    "cost.tokens": "tokens",
    "cost.price_usd": "price",
    "cost.latency_s": "recorded time",
    "cost.questions": "questions",
    "cost.vetoes": "overrides",
}


NAME_ROOM: Final = 40
"""Pixels that the name of a variant takes beside its dot."""


def what_it_costs(run: Run) -> Table:
    """Means per case over exact trials, each with the number of cases it is the mean of; no column that is empty."""
    infos = {info.name: info for info in run.scorers}
    found = {(item.variant, item.scorer): item for item in run.summaries}
    rows = []
    for info in run.variants:
        name = info.variant.name
        covered = run.coverage[name]
        cells = [
            amount(found[name, scorer], infos[scorer]) if (name, scorer) in found and scorer in infos else NOTHING
            for scorer in COLUMNS
        ]
        rows.append((name, f"{covered.exact}/{covered.total}", *cells))
    return without_empty(Table(_caption(run), ("variant", "exact trials", *COLUMNS.values()), tuple(rows)), rows=False)


_PAIRED: Final[dict[str, CostName]] = {
    "cost.tokens": "tokens",
    "cost.llm_calls": "calls",
    "cost.price_usd": "price",
    "cost.visits": "steps",
    "cost.latency_s": "recorded_time",
}


def cost_change(run: Run) -> Table:
    """Means per case of candidate and reference, and how far they differ, with the 95 % interval where it is known; no
    row where neither costs anything."""
    units = {info.name: info.unit for info in run.scorers}
    means = {(item.variant, item.scorer): item.mean for item in run.summaries}
    paired = {item.name: item for item in run.costs}
    rows = []
    for scorer, words in COLUMNS.items():
        was, now = means.get((run.reference, scorer)), means.get((run.candidate, scorer))
        if was is not None and now is not None and (was or now) and run.reference != run.candidate:
            change = "same" if now == was else _signed((now - was) / was) + " %" if was else NOTHING
            rows.append(
                (words, measure(now, units[scorer]), measure(was, units[scorer]), change + _cost_bounds(scorer, paired))
            )
    return Table("Cost per case", ("", run.candidate, run.reference, "change"), tuple(rows))


def _signed(share: float) -> str:
    return f"{share * 100:+.0f}".replace("-", MINUS)


def _cost_bounds(scorer: str, paired: Mapping[CostName, CostChange]) -> str:
    """The interval of a relative change, and the limit of the suite."""
    item = paired.get(_PAIRED[scorer]) if scorer in _PAIRED else None
    if item is None:
        return ""
    known = item.before is not None and item.low is not None and item.high is not None
    interval = f" [{_signed(item.low or 0)}, {_signed(item.high or 0)}]" if known else ""
    return f"{interval}{f', limit {item.limit}' if item.limit is not None else ''}"


def score_plots(run: Run) -> tuple[Plot, ...]:
    """Each primary metric against tokens, a dot and a 95 % interval per variant; none for fewer than two variants."""
    found = {(item.variant, item.scorer): item for item in run.summaries}
    plots = []
    for info in run.scorers:
        placed = []
        for name in (each.variant.name for each in run.variants) if info.primary and info.unit == "fraction" else ():
            score, tokens = found.get((name, info.name)), found.get((name, "cost.tokens"))
            if score and tokens and score.mean is not None and tokens.mean is not None:
                placed.append((name, tokens.mean, score, score.mean))
        if len(placed) > 1:
            plots.append(_score_plot(run, info.name, placed))
    return tuple(plots)


def _score_plot(run: Run, metric: str, placed: Sequence[tuple[str, float, Summary, float]]) -> Plot:
    bounds = [(x, low, high) for x, low, high in ((x, one.low, one.high) for _, x, one, _ in placed) if low is not None]
    frame = Frame.around(
        [x for _, x, _, _ in placed],
        [*(mean for *_, mean in placed), *(bound for _, *pair in bounds for bound in pair if bound is not None)],
    )
    told = {name: f"{name}: {rate(one)}, {x:,.0f} tokens per case" for name, x, one, _ in placed}
    return Plot(
        title=metric,
        rests_on=f"{len(placed)} variants, 95 % intervals",
        spoken=f"{metric} against tokens per case. {'. '.join(told.values())}",
        across="tokens per case",
        up=metric,
        x_ticks=tuple(
            Tick(frame.x(x), f"{x:,.0f}")
            for x in sorted({min(x for _, x, *_ in placed), max(x for _, x, *_ in placed)})
        ),
        y_ticks=frame.percents_up(),
        whiskers=frame.whiskers(bounds),
        dots=tuple(_named_dots(run, frame, placed, told)),
        table=Table(
            f"{metric} by tokens per case",
            ("variant", "tokens", metric),
            tuple((name, f"{x:,.0f}", rate(one)) for name, x, one, _ in sorted(placed, key=lambda each: each[1])),
        ),
    )


def _named_dots(
    run: Run, frame: Frame, placed: Sequence[tuple[str, float, Summary, float]], told: Mapping[str, str]
) -> Iterator[Dot]:
    """A dot with another close to its right has its name on the left."""
    ordered = sorted(placed, key=lambda each: each[1])
    for place, (name, x, _, mean) in enumerate(ordered):
        following = ordered[place + 1][1] if place + 1 < len(ordered) else None
        crowded = following is not None and float(frame.x(following)) - float(frame.x(x)) < NAME_ROOM
        kind = "" if name in (run.candidate, run.reference) else "hollow"
        dot = frame.dot(x, mean, told[name], kind=kind)
        yield replace(dot, name=name, side="left" if crowded else "right")


def _caption(run: Run) -> str:
    caption = "What it costs (means per case, over exact trials)"
    uneven = len({covered.exact for covered in run.coverage.values() if covered.exact}) > 1
    rests = "; variants with other n rest on other cases" if uneven else ""
    return f"{caption}{rests}{token_note(run)}"


def token_note(run: Run) -> str:
    """Who counted the tokens, where it was not the model's own tokenizer; nothing where it was."""
    counted: dict[str, list[str]] = {}
    for variant in (info.variant for info in run.variants):
        if variant.models.tokens_counted_by:
            counted.setdefault(variant.models.tokens_counted_by, []).append(variant.name)
    told = {who: "" if len(names) == len(run.variants) else f" of {', '.join(names)}" for who, names in counted.items()}
    return "".join(f"; tokens{of} counted by {who}, not by the model's own tokenizer" for who, of in told.items())
