"""The page of a drift check."""

from typing import Final

from evals.analysis.drift_session import CONFIDENCE
from evals.models.analysis_results import AnswerSource, Drift, DriftPrice, FieldDrift, Range, Turned
from evals.report.numbers import NOTHING, percent, points, probability, signed
from evals.report.view.page_parts import Table
from evals.shared.display_text import counted

SHOWN: Final = 20
"""Turned decisions in the terminal; all of them are in `drift.json`."""


def field_table(found: Drift) -> Table:
    """Every field of every agent, decisions first."""
    return Table(
        f"Asked again: {sum(each.drawn for each in found.strata)} of "
        f"{sum(each.recorded for each in found.strata):,} recorded requests of {found.suite}, {found.cases} cases",
        ("agent", "field", "requests", "as recorded", "repeats alike", "moved by", "p (adjusted)", ""),
        tuple(map(_row, found.fields)),
    )


def turned_table(found: Drift) -> Table:
    """The decisions on the way of a trial that are answered otherwise now."""
    ways = [turned for turned in found.turned if turned.on_the_way]
    more = f" ({len(ways) - SHOWN} more are in drift.json)" if len(ways) > SHOWN else ""
    return Table(
        f"{counted(len(found.turned_cases), 'case')} would go another way, as far as was asked{more}",
        ("case", "where", "recorded", "now", ""),
        tuple(_turned(turned) for turned in ways[:SHOWN]),
    )


def who(found: Drift) -> str:
    """Who answered when, on either side."""
    return f"Recorded {_told(found.recorded)}; asked again {_told(found.fresh)}."


def cost(price: DriftPrice) -> str:
    """Answers, tokens and money in words."""
    if price.usd is not None:
        money = f"{price.usd:.2f} USD by the price table of {price.prices_as_of}"
    else:
        money = f"price unknown ({', '.join(price.unpriced)} not in the price table; --prices FILE)"
    tokens = f"about {price.input_tokens:,} tokens in and {price.output_tokens:,} out"
    return f"{price.answers:,} answers to {price.requests:,} requests, {tokens}; {money}"


def _row(field: FieldDrift) -> tuple[str, ...]:
    return (
        field.agent,
        field.field,
        str(field.requests),
        _range(field.equal),
        _range(field.noise),
        _change(field),
        probability(field.p_adjusted),
        "moved" if field.moved else "",
    )


def _change(field: FieldDrift) -> str:
    """In points, or for confidence as it is."""
    number = signed if field.field == CONFIDENCE else points
    if field.change is None:
        return NOTHING
    interval = f" [{number(field.change.low)}, {number(field.change.high)}]" if field.change.low is not None else ""
    return f"{number(field.change.value)}{interval}"


def _range(found: Range | None) -> str:
    if found is None:
        return ""
    interval = f" [{percent(found.low)}, {percent(found.high)}]" if found.low is not None else ""
    return f"{percent(found.value)}{interval}"


def _turned(turned: Turned) -> tuple[str, ...]:
    first = turned.on_the_way[0]
    others = len(turned.on_the_way) - 1
    return (
        first.case,
        f"{first.variant}, decision {first.step}" + (f" (and in {counted(others, 'trial')} more)" if others else ""),
        turned.recorded,
        ", ".join(dict.fromkeys(turned.fresh)),
        "recorded as another repeat" if turned.known else "",
    )


def _told(told: AnswerSource) -> str:
    models = ", ".join(f"{model} ({count})" for model, count in told.models.items())
    first, last = told.first[:10], told.last[:10]
    return f"{first if first == last else f'{first} to {last}'} by {models}"
