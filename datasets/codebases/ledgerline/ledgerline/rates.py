"""Exchange rates into the base currency, by day."""

import csv
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path

from ledgerline.errors import AmountError, RateError
from ledgerline.money import Money, parse_amount

COLUMNS = {"date", "currency", "rate"}


class RateTable:
    """Rates of some currencies. A rate holds from its day on until the next one."""

    def __init__(self, base: str, rates: Iterable[tuple[date, str, Decimal]] = ()) -> None:
        self._base = base
        self._rates: defaultdict[str, list[tuple[date, Decimal]]] = defaultdict(list)
        for day, currency, rate in sorted(rates):
            self._rates[currency].append((day, rate))

    @property
    def base(self) -> str:
        """The currency everything is converted into."""
        return self._base

    def on(self, currency: str, day: date) -> Decimal:
        """What one unit was worth on a day. Raises RateError if no rate is known so early."""
        if currency == self._base:
            return Decimal(1)
        known = self._rates.get(currency, [])
        position = bisect_right(known, day, key=lambda entry: entry[0])
        if position == 0:
            raise RateError(f"no rate of {currency} on {day} or before; add one to the file of rates")
        return known[position - 1][1]

    def convert(self, money: Money, day: date) -> Money:
        """An amount in the base currency, at the rate of a day. Raises RateError."""
        return Money.of(money.amount * self.on(money.currency, day), self._base)


def load_rates(path: Path, base: str) -> RateTable:
    """The rates in a file; none if there is no such file. Raises RateError."""
    if not path.exists():
        return RateTable(base)
    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.DictReader(stream)
        if not COLUMNS <= set(reader.fieldnames or ()):
            raise RateError(f"{path}: the first line must name {', '.join(sorted(COLUMNS))}")
        return RateTable(base, [_entry(path, reader.line_num, row) for row in reader])


def _entry(path: Path, number: int, row: Mapping[str, str]) -> tuple[date, str, Decimal]:
    try:
        rate = parse_amount(row["rate"])
        day = date.fromisoformat(row["date"].strip())
    except (AmountError, ValueError) as error:
        raise RateError(f"{path}:{number}: {error}") from error
    if rate <= 0:
        raise RateError(f"{path}:{number}: a rate must be greater than zero")
    return day, row["currency"].strip().upper(), rate
