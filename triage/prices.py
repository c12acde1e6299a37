"""What calls cost, by a dated table: `prices.yaml` is a link to the one that `evals` reads, so that there is only one.

A model that the table does not name costs "unknown", never nothing.
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from triage.calls import Call

TABLE: Final = Path(__file__).with_name("prices.yaml")
_MILLION: Final = 1_000_000


def cost_usd(calls: Iterable[Call]) -> float | None:
    """USD for all of `calls`; None if one of their models has no price."""
    spent = 0.0
    for call in calls:
        price = price_of(call.model)
        if price is None:
            return None
        spent += call.tokens_in * price[0] + call.tokens_out * price[1]
    return spent / _MILLION


def price_of(model: str) -> tuple[float, float] | None:
    """USD per million tokens of input and of output; None for a model without a price."""
    price = _table()["models"].get(model)
    return None if price is None else (price["usd_per_million_input"], price["usd_per_million_output"])


def told(calls: Iterable[Call]) -> str:
    """The price in words, with the day of the table, or which model has none."""
    asked = list(calls)
    cost, table = cost_usd(asked), _table()
    if cost is None:
        unknown = next(call.model for call in asked if call.model not in table["models"])
        return f"price unknown ({unknown or 'a model without a name'} is not in the table)"
    return f"{cost:.4f} USD (prices of {table['as_of']})"


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    return table
