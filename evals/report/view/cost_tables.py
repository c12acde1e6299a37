"""Cost: means per case and variant, what the candidate changes, and score against tokens."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from evals.models.run import CostChange, Run, Summary
from evals.models.suite import CostName
from evals.report.numbers import MINUS, NOTHING, amount, measure, rate
from evals.report.view.page_parts import Table, without_empty
from evals.report.view.plots import Dot, Frame, Plot, Tick

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
                (words, measure(now, units[scorer]), measure(was, units[scorer]), change + _bounds(scorer, paired))
            )
    return Table("Cost per case", ("", run.candidate, run.reference, "change"), tuple(rows))


def _signed(share: float) -> str:
    return f"{share * 100:+.0f}".replace("-", MINUS)


def _bounds(scorer: str, paired: Mapping[CostName, CostChange]) -> str:
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
